import { v7 } from 'uuid';
import { IMAGE_TYPES, type ImageType } from './image-type.ts';
import { isUploadOf, UPLOAD_NAME, UPLOADS } from './upload-name.ts';

/**
 * The name tells the id of the item whose it is, and the type, so that no store has to keep either and none
 * can change it.
 */
export type BlobName = string & { readonly __blobName: never };

const EXTENSIONS = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'avif',
} as const satisfies Record<ImageType, string>;

/** Never given before, so that what is under it never changes; made from nothing that a client sent. */
export const newBlobName = (id: number, type: ImageType): BlobName =>
  `${id}-${v7()}.${EXTENSIONS[type]}` as BlobName;

/** Whatever else is asked for by a path, such as a way out of the folder, is the name of nothing. */
export const parseBlobName = (text: string): BlobName | undefined =>
  UPLOAD_NAME.test(text) ? (text as BlobName) : undefined;

/** Where it is read. */
export const pathOfBlob = (name: BlobName): string => `${UPLOADS}${name}`;

/** The file that a path names, where it is an upload of this very item. */
export const blobOfUpload = (id: number, path: string): BlobName | undefined =>
  isUploadOf(id, path) ? (path.slice(UPLOADS.length) as BlobName) : undefined;

export const typeOfBlob = (name: BlobName): ImageType => {
  const type = IMAGE_TYPES.find((each) => name.endsWith(`.${EXTENSIONS[each]}`));
  if (type === undefined) throw new Error(`${name} is not the name of a picture`);
  return type;
};
