/**
 * Files under readable paths, which others read without us: a web server on a folder, or a public bucket. Each is
 * replaced whole.
 */
export type PublishedFiles = AsyncDisposable & {
  read(path: string): Promise<Buffer | undefined>;
  write(path: string, content: Uint8Array): Promise<void>;
  /** Does nothing if the file is absent. */
  remove(path: string): Promise<void>;
};
