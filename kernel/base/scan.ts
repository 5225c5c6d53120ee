/** A new file as a scanner gets it: stored, but not yet named by anything that a client could read. */
export type ScannedFile = {
  /** The field that is to get it: `claim.items.receipt`. */
  readonly field: string;
  readonly type: string;
  readonly bytes: number;
  /** The SHA-256 digest of the content, in hexadecimal. */
  readonly sha256: string;
  /** The file name that the client gave, made safe. */
  readonly name: string | null;
  /** The content, which is read from the storage when it is iterated. */
  readonly content: AsyncIterable<Uint8Array>;
  /** Aborts when the time is over. */
  readonly signal: AbortSignal;
};

/**
 * Checks every uploaded file before it is accepted. A sentence refuses the file, and is shown to the client;
 * nothing accepts it. If the check fails or takes too long, the file is refused, too.
 */
export type Scan = (file: ScannedFile) => Promise<string | undefined>;
