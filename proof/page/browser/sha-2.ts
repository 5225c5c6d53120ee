/**
 * SHA-256 and SHA-512 (FIPS 180-4), at once: WebCrypto has them as promises, and the checks hash in the middle of
 * a tree.
 */

const MASK = (1n << 64n) - 1n;

const rootOf = (value: bigint, power: bigint): bigint => {
  let [low, high] = [0n, 1n << 80n];
  while (low < high) {
    const middle = (low + high + 1n) / 2n;
    if (middle ** power <= value) low = middle;
    else high = middle - 1n;
  }
  return low;
};

const PRIMES: readonly bigint[] = Array.from({ length: 410 }, (_, at) => BigInt(at)).filter((number) => {
  for (let divisor = 2n; divisor * divisor <= number; divisor += 1n)
    if (number % divisor === 0n) return false;
  return number > 1n;
});
/** The constants of SHA-512: parts of roots of primes. Those of SHA-256 are their upper halves. */
const ROUND = PRIMES.slice(0, 80).map((prime) => rootOf(prime << 192n, 3n) & MASK);
const START = PRIMES.slice(0, 8).map((prime) => rootOf(prime << 128n, 2n) & MASK);
const upper = (word: bigint): number => Number(word >> 32n);
const ROUND_32 = Int32Array.from(ROUND.slice(0, 64), upper);
const START_32 = Int32Array.from(START, upper);

/** The message with its length after it, in whole blocks. */
const padded = (message: Uint8Array, blockBytes: number): DataView => {
  const lengthBytes = blockBytes / 8;
  const blocks = Math.ceil((message.length + 1 + lengthBytes) / blockBytes);
  const bytes = new Uint8Array(blocks * blockBytes);
  bytes.set(message);
  bytes[message.length] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setBigUint64(bytes.length - 8, BigInt(message.length) * 8n);
  return view;
};

const turn = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

export const sha256 = (message: Uint8Array): Uint8Array => {
  const view = padded(message, 64);
  const state = Int32Array.from(START_32);
  const words = new Int32Array(64);
  for (let from = 0; from < view.byteLength; from += 64) {
    for (let at = 0; at < 64; at += 1) {
      const [near, far] = [words[at - 2] ?? 0, words[at - 15] ?? 0];
      words[at] =
        at < 16
          ? view.getInt32(from + at * 4)
          : (turn(near, 17) ^ turn(near, 19) ^ (near >>> 10)) +
            (words[at - 7] ?? 0) +
            (turn(far, 7) ^ turn(far, 18) ^ (far >>> 3)) +
            (words[at - 16] ?? 0);
    }
    let [a, b, c, d, e, f, g, h] = state as unknown as Eight<number>;
    for (let at = 0; at < 64; at += 1) {
      const one = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g));
      const sum = (one + (ROUND_32[at] ?? 0) + (words[at] ?? 0)) | 0;
      const other = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      [a, b, c, d, e, f, g, h] = [(sum + other) | 0, a, b, c, (d + sum) | 0, e, f, g];
    }
    for (const [at, word] of [a, b, c, d, e, f, g, h].entries()) state[at] = (state[at] ?? 0) + word;
  }
  const digest = new DataView(new ArrayBuffer(32));
  for (const [at, word] of state.entries()) digest.setInt32(at * 4, word);
  return new Uint8Array(digest.buffer);
};

type Eight<Word> = [Word, Word, Word, Word, Word, Word, Word, Word];

const turn64 = (word: bigint, bits: bigint): bigint => ((word >> bits) | (word << (64n - bits))) & MASK;

/** Slower, and enough for a signature. */
export const sha512 = (message: Uint8Array): Uint8Array => {
  const view = padded(message, 128);
  let state = START;
  for (let from = 0; from < view.byteLength; from += 128) {
    const words: bigint[] = [];
    for (let at = 0; at < 80; at += 1) {
      const [near, far] = [words[at - 2] ?? 0n, words[at - 15] ?? 0n];
      const mixed =
        (turn64(near, 19n) ^ turn64(near, 61n) ^ (near >> 6n)) +
        (words[at - 7] ?? 0n) +
        (turn64(far, 1n) ^ turn64(far, 8n) ^ (far >> 7n)) +
        (words[at - 16] ?? 0n);
      words.push(at < 16 ? view.getBigUint64(from + at * 8) : mixed & MASK);
    }
    let [a, b, c, d, e, f, g, h] = state as Eight<bigint>;
    for (const [at, word] of words.entries()) {
      const one = h + (turn64(e, 14n) ^ turn64(e, 18n) ^ turn64(e, 41n)) + ((e & f) ^ (~e & g));
      const sum = one + (ROUND[at] ?? 0n) + word;
      const other = (turn64(a, 28n) ^ turn64(a, 34n) ^ turn64(a, 39n)) + ((a & b) ^ (a & c) ^ (b & c));
      [a, b, c, d, e, f, g, h] = [(sum + other) & MASK, a, b, c, (d + sum) & MASK, e, f, g];
    }
    const added = [a, b, c, d, e, f, g, h];
    state = state.map((word, at) => (word + (added[at] ?? 0n)) & MASK);
  }
  const digest = new DataView(new ArrayBuffer(64));
  for (const [at, word] of state.entries()) digest.setBigUint64(at * 8, word);
  return new Uint8Array(digest.buffer);
};
