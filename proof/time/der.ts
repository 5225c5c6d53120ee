/** The part of DER (X.690) that time stamps need. A length that is not in its shortest form is refused. */

export type Der = {
  readonly tag: number;
  readonly content: Buffer;
  /** With its tag and length. */
  readonly whole: Buffer;
};

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  octets: 0x04,
  nothing: 0x05,
  oid: 0x06,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  /** `[0]`, `[1]` and `[3]`, with others inside. */
  first: 0xa0,
  second: 0xa1,
  fourth: 0xa3,
} as const;

/** The bytes are no DER, or not the structure that was expected. */
export class DerWrong extends Error {
  constructor() {
    super('These bytes are no DER of a time stamp.');
    this.name = 'DerWrong';
  }
}

/** Lengths of more bytes than this are refused. */
const LENGTH_BYTES_MAX = 3;
const LONG = 0x80;
/** A tag of several bytes, which no structure here has. */
const HIGH_TAG = 0x1f;

/** Reads one value, which must be all of it. */
export const readDer = (bytes: Buffer): Der => {
  const [value, ...more] = readAll(bytes);
  if (value === undefined || more.length > 0) throw new DerWrong();
  return value;
};

/** The values in a value, one after the other. */
export const inside = ({ content }: Der): readonly Der[] => readAll(content);

const readAll = (bytes: Buffer): readonly Der[] => {
  const values: Der[] = [];
  for (let at = 0; at < bytes.length; ) {
    const value = readAt(bytes, at);
    values.push(value);
    at += value.whole.length;
  }
  return values;
};

const readAt = (bytes: Buffer, at: number): Der => {
  const [tag, first] = [bytes[at], bytes[at + 1]];
  if (tag === undefined || first === undefined || (tag & HIGH_TAG) === HIGH_TAG) throw new DerWrong();
  const count = first < LONG ? 0 : first - LONG;
  const begin = at + 2 + count;
  if (first === LONG || count > LENGTH_BYTES_MAX || begin > bytes.length) throw new DerWrong();
  const length = count === 0 ? first : bytes.readUIntBE(at + 2, count);
  if ((count > 0 && length < Math.max(LONG, 256 ** (count - 1))) || begin + length > bytes.length)
    throw new DerWrong();
  return { tag, content: bytes.subarray(begin, begin + length), whole: bytes.subarray(at, begin + length) };
};

/** The content of a value, which must have this tag. */
export const contentOf = (value: Der | undefined, tag: number): Buffer => {
  if (value?.tag !== tag) throw new DerWrong();
  return value.content;
};

export const der = (tag: number, ...contents: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content]);
};

const lengthOf = (length: number): Buffer => {
  if (length < LONG) return Buffer.of(length);
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  const short = bytes.subarray(bytes.findIndex((byte) => byte !== 0));
  return Buffer.concat([Buffer.of(LONG + short.length), short]);
};

/** An object identifier as people write it. */
export const oid = (text: string): Buffer => {
  const [first = 0, second = 0, ...others] = text.split('.').map(Number);
  return der(TAG.oid, ...[first * 40 + second, ...others].map(base128));
};

const base128 = (number: number): Buffer => {
  const bytes = [number % LONG];
  for (let left = Math.floor(number / LONG); left > 0; left = Math.floor(left / LONG))
    bytes.unshift(LONG + (left % LONG));
  return Buffer.from(bytes);
};
