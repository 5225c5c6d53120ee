import { sha256 } from './sha256.ts';

/** The head of a chain of no events. The text is storage: another text is another chain. */
export const GENESIS: Buffer = sha256('annals chain 1');

export const HASH_BYTES = 32;

/** The hash of an event, given its canonical form. */
export const hashOfCanonical = (form: string): Buffer => sha256(form);

/**
 * The head after one more event, whose hash is that of its canonical form. Every event of the log counts, in
 * the order of the log, but no position of an engine: a copy of the log has the same heads.
 */
export const extend = (head: Uint8Array, hash: Uint8Array): Buffer => {
  // A damaged block may end within a hash.
  if (head.length + hash.length !== both.length) return sha256(Buffer.concat([head, hash]));
  both.set(head);
  both.set(hash, head.length);
  return sha256(both);
};

/** One buffer for all calls, because none waits in between. */
const both = new Uint8Array(2 * HASH_BYTES);

/** The head after several events, whose hashes follow each other without separators. */
export const extendByAll = (head: Buffer, hashes: Uint8Array): Buffer => {
  let extended = head;
  for (let at = 0; at < hashes.length; at += HASH_BYTES)
    extended = extend(extended, hashes.subarray(at, at + HASH_BYTES));
  return extended;
};
