import { v7 } from 'uuid';
import { FILE_NAME, storedPathOf } from '#kernel/base/file-address.ts';
import { IMAGE_TYPES, type ImageType } from '#kernel/base/image-type.ts';
import { UPLOAD_NAME, UPLOADS } from '#kernel/base/upload-name.ts';

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
export const newBlobName = (id: number, type: string): BlobName => {
  if (!isImageType(type)) throw new Error(`${type} is not the type of a picture`);
  return `${id}-${v7()}.${EXTENSIONS[type]}` as BlobName;
};

const isImageType = (type: string): type is ImageType => type in EXTENSIONS;

/** The same for a file of any type, which its address states. */
export const newFileName = (id: number): BlobName => `${id}-${v7()}.file` as BlobName;

/** Whether it is the name of a file whose address states its type. */
export const isFileName = (name: BlobName): boolean => FILE_NAME.test(name);

/** Any other path, such as one out of the folder, is no name. */
export const parseBlobName = (text: string): BlobName | undefined =>
  UPLOAD_NAME.test(text) || FILE_NAME.test(text) ? (text as BlobName) : undefined;

export const pathOfBlob = (name: BlobName): string => `${UPLOADS}${name}`;

/** The file at an address, if it is an upload of this item. */
export const blobOfUpload = (id: number, address: string): BlobName | undefined => {
  const path = storedPathOf(address);
  if (!path.startsWith(`${UPLOADS}${id}-`)) return undefined;
  const name = parseBlobName(path.slice(UPLOADS.length));
  // Only the address of a file has facts.
  return name !== undefined && (path === address || isFileName(name)) ? name : undefined;
};

/** The type by which a storage keeps a file: of a picture its own. */
export const typeOfBlob = (name: BlobName): string => {
  if (isFileName(name)) return 'application/octet-stream';
  const type = IMAGE_TYPES.find((each) => name.endsWith(`.${EXTENSIONS[each]}`));
  if (type === undefined) throw new Error(`${name} is not the name of a picture`);
  return type;
};
