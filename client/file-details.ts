/** The details that the address of a file states. */
export type FileDetails = {
  /** The media type. */
  readonly type: string;
  readonly bytes: number;
  /** The SHA-256 digest of the content, in hexadecimal. */
  readonly sha256: string;
  /** The name that was given with the file, made safe. */
  readonly name: string | null;
};

/** The details in the value of a field that is a `file()`; undefined for a picture, whose address states none. */
export const fileDetails = (address: string): FileDetails | undefined => {
  const query = new URLSearchParams(address.split('?', 2)[1] ?? '');
  const [type, bytes, sha256] = ['type', 'bytes', 'sha256'].map((name) => query.get(name));
  return type == null || bytes == null || sha256 == null
    ? undefined
    : { type, bytes: Number(bytes), sha256, name: query.get('name') };
};
