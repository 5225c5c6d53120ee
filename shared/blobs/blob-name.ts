import { v7 } from 'uuid';
import { IMAGE_TYPES } from '#shared/rest/articles.ts';

export type ImageType = (typeof IMAGE_TYPES)[number];

/** The name tells the type, so that no store has to keep it and none can change it. */
export type BlobName = string & { readonly __blobName: never };

const EXTENSIONS = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'avif',
} as const satisfies Record<ImageType, string>;

const NAME = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.(png|jpg|webp|gif|avif)$/;

/** Never given before, so that caches may keep what is under it for ever; made from nothing that a client sent. */
export const newBlobName = (type: ImageType): BlobName => `${v7()}.${EXTENSIONS[type]}` as BlobName;

/** Whatever else is asked for by a path, such as a way out of the folder, is the name of nothing. */
export const parseBlobName = (text: string): BlobName | undefined => (NAME.test(text) ? (text as BlobName) : undefined);

/** Where it is read. */
export const pathOfBlob = (name: BlobName): string => `/uploads/${name}`;

export const typeOfBlob = (name: BlobName): ImageType => {
  const type = IMAGE_TYPES.find((each) => name.endsWith(`.${EXTENSIONS[each]}`));
  if (type === undefined) throw new Error(`${name} is not the name of a picture`);
  return type;
};
