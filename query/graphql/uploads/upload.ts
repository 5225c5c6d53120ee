/** A file of a request, still arriving; it can be read once. */
export class Upload {
  readonly #open: () => Promise<IncomingFile>;

  constructor(open: () => Promise<IncomingFile>) {
    this.#open = open;
  }

  /** Waits for the file; unread files before it are discarded. */
  open(): Promise<IncomingFile> {
    return this.#open();
  }
}

export type IncomingFile = {
  /** The media type declared by the sender. */
  readonly type: string;
  readonly fileName: string | undefined;
  /** Stopping early does not affect later files. */
  readonly chunks: AsyncIterable<Uint8Array>;
};

/** The rule for inputs of the scalar: only a multipart request can contain an upload. */
export const demandUpload = (value: unknown): Upload => {
  if (value instanceof Upload) return value;
  throw new TypeError('An Upload must be a file of a multipart request.');
};
