import type { Readable } from 'node:stream';
import type { BlobName } from './blob-name.ts';

/**
 * Keeps files under names that are given once: what is there is there whole and never changes; where it
 * cannot tell, `BlobsUnavailable`.
 */
export type Blobs = AsyncDisposable & {
  /** Keeps all of the body, durably, or nothing of it; a failure of the body itself comes back as it is. */
  put(
    name: BlobName,
    body: AsyncIterable<Uint8Array>,
    about?: { readonly bytes?: number | undefined },
  ): Promise<void>;
  find(name: BlobName): Promise<{ readonly bytes: number } | undefined>;
  /**
   * The whole or the bytes named, both ends included, as they are read; whoever asks reads it to its end or
   * destroys it.
   */
  read(name: BlobName, range?: ByteRange): Promise<Readable | undefined>;
  /** Does nothing where there is nothing. */
  remove(name: BlobName): Promise<void>;
  /** Resolves where the place can be used. */
  check(signal?: AbortSignal): Promise<void>;
};

export type ByteRange = { readonly start: number; readonly end: number };

/** The place did not do what it was asked: a full disk, a bucket that does not answer. */
export class BlobsUnavailable extends Error {
  readonly code = 'blobs_unavailable';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BlobsUnavailable';
  }
}
