import { v7 } from 'uuid';
import { IMAGE_TYPES, type ImageType } from '#kernel/base/image-type.ts';
import { isUploadOf, UPLOAD_NAME, UPLOADS } from '#kernel/base/upload-name.ts';

/**
 * The name states the id of the item that it belongs to, and the type, so that no store has to keep either
 * and none can change it.
 */
export type BlobName = string & { readonly __blobName: never };

const EXTENSIONS = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'avif',
} as const satisfies Record<ImageType, string>;

/** Always new, so that its content never changes; contains nothing that a client sent. */
export const newBlobName = (id: number, type: ImageType): BlobName =>
  `${id}-${v7()}.${EXTENSIONS[type]}` as BlobName;

/** Any other path, such as one out of the folder, is no name. */
export const parseBlobName = (text: string): BlobName | undefined =>
  UPLOAD_NAME.test(text) ? (text as BlobName) : undefined;

/** The path to read it. */
export const pathOfBlob = (name: BlobName): string => `${UPLOADS}${name}`;

/** The file at a path, if it is an upload of this item. */
export const blobOfUpload = (id: number, path: string): BlobName | undefined =>
  isUploadOf(id, path) ? (path.slice(UPLOADS.length) as BlobName) : undefined;

export const typeOfBlob = (name: BlobName): ImageType => {
  const type = IMAGE_TYPES.find((each) => name.endsWith(`.${EXTENSIONS[each]}`));
  if (type === undefined) throw new Error(`${name} is not the name of a picture`);
  return type;
};
