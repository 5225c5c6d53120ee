/** A file of a request, still on its way; it can be read once. */
export class Upload {
  readonly #open: () => Promise<IncomingFile>;

  constructor(open: () => Promise<IncomingFile>) {
    this.#open = open;
  }

  /** Waits until it comes; those that come before it, and were not read, are let go by. */
  open(): Promise<IncomingFile> {
    return this.#open();
  }
}

export type IncomingFile = {
  /** What its sender says that it is. */
  readonly type: string;
  /** Leaving it early does no harm to what comes after it. */
  readonly chunks: AsyncIterable<Uint8Array>;
};

/**
 * The scalar's rule for what comes in: there is no other way to be an upload than to come in a multipart
 * request.
 */
export const demandUpload = (value: unknown): Upload => {
  if (value instanceof Upload) return value;
  throw new TypeError('An Upload is a file of a multipart request.');
};
