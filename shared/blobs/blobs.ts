import type { Readable } from 'node:stream';
import type { Scan } from '#kernel/base/scan.ts';
import type { BlobName } from './blob-name.ts';

/**
 * Stores files under unique names: a stored file is complete and never changes. Throws `BlobsUnavailable` if
 * the storage does not work.
 */
export type Blobs = AsyncDisposable & {
  /** Stores all of the body, durably, or nothing of it; rethrows a failure of the body itself. */
  put(
    name: BlobName,
    body: AsyncIterable<Uint8Array>,
    about?: { readonly bytes?: number | undefined },
  ): Promise<void>;
  find(name: BlobName): Promise<{ readonly bytes: number } | undefined>;
  /**
   * The whole file or the named bytes, both ends included, as a stream; the caller reads it to its end or
   * destroys it.
   */
  read(name: BlobName, range?: ByteRange): Promise<Readable | undefined>;
  /** Does nothing if the file is absent. */
  remove(name: BlobName): Promise<void>;
  /** Resolves if the storage is usable. */
  check(signal?: AbortSignal): Promise<void>;
};

/** The storage of an installation, with the check of its new files, if it has one. */
export type UploadStorage = Blobs & { readonly scan?: Scan | undefined };

export type ByteRange = { readonly start: number; readonly end: number };

/** The storage failed: a full disk, or a bucket that does not respond. */
export class BlobsUnavailable extends Error {
  readonly code = 'blobs_unavailable';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BlobsUnavailable';
  }
}
