/** The names of uploaded pictures, for code that only checks them. */
export const UPLOAD_NAME =
  /^([1-9]\d{0,15})-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.(png|jpg|webp|gif|avif)$/;

export const UPLOADS = '/uploads/';

/** Whether it is a path of ours rather than an external address. */
export const isUploadPath = (path: string): boolean => path.startsWith(UPLOADS);

/** Whether a path names an uploaded picture of the item with this id. */
export const isUploadOf = (id: number, path: string): boolean =>
  path.startsWith(`${UPLOADS}${id}-`) && UPLOAD_NAME.test(path.slice(UPLOADS.length));
