import { createHash } from 'node:crypto';

const sha256 = (...parts: readonly (Uint8Array | string)[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** The head of a chain of no events. The text is storage: another text is another chain. */
export const GENESIS: Buffer = sha256('annals chain 1');

export const HASH_BYTES = 32;

/**
 * The head after one more event, whose hash is that of its canonical form. Every event of the log counts, in
 * the order of the log, but no position of an engine: a copy of the log has the same heads.
 */
export const extend = (head: Uint8Array, hash: Uint8Array): Buffer => sha256(head, hash);

/** The head after several events, whose hashes follow each other without separators. */
export const extendByAll = (head: Buffer, hashes: Uint8Array): Buffer => {
  let extended = head;
  for (let at = 0; at < hashes.length; at += HASH_BYTES)
    extended = extend(extended, hashes.subarray(at, at + HASH_BYTES));
  return extended;
};
