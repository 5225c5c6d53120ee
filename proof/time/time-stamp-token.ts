import { contentOf, type Der, DerWrong, inside, oid, readDer, TAG } from './der.ts';

/** A time stamp token: CMS SignedData over a TSTInfo (RFC 3161, 2.4.2, and RFC 5652). */
export type TimeStampToken = {
  /** The name of the hash function, and the hash of the stamped data. */
  readonly imprint: { readonly hash: string; readonly bytes: Buffer };
  readonly at: Date;
  /** With its tag, as in the request; undefined without one. */
  readonly nonce: Buffer | undefined;
  /** The signed TSTInfo. */
  readonly content: Buffer;
  readonly certificates: readonly Buffer[];
  readonly hash: string;
  /** The signed attributes as they are signed, and by their identifiers. */
  readonly signed: Buffer;
  readonly attributes: ReadonlyMap<string, Der>;
  readonly algorithm: string;
  readonly signature: Buffer;
};

const HASHES = new Map([
  ['1.3.14.3.2.26', 'sha1'],
  ['2.16.840.1.101.3.4.2.1', 'sha256'],
  ['2.16.840.1.101.3.4.2.2', 'sha384'],
  ['2.16.840.1.101.3.4.2.3', 'sha512'],
]);
const SIGNED_DATA = '1.2.840.113549.1.7.2';
export const TST_INFO = '1.2.840.113549.1.9.16.1.4';

/** Undefined if the bytes are no token. */
export const parseToken = (bytes: Buffer): TimeStampToken | undefined => {
  try {
    return read(bytes);
  } catch (error) {
    if (error instanceof DerWrong || error instanceof RangeError) return undefined;
    throw error;
  }
};

const read = (bytes: Buffer): TimeStampToken => {
  const [type, explicit] = inside(readDer(bytes));
  demandOid(type, SIGNED_DATA);
  const [, , encapsulated, ...others] = inside(inside(demand(explicit, TAG.first))[0] ?? fail());
  const [contentType, wrapped] = inside(demand(encapsulated, TAG.sequence));
  demandOid(contentType, TST_INFO);
  const content = contentOf(inside(demand(wrapped, TAG.first))[0], TAG.octets);
  const signers = inside(demand(others.at(-1), TAG.set));
  const certificates = others.find(({ tag }) => tag === TAG.first);
  if (signers.length !== 1) throw new DerWrong();
  return {
    ...infoIn(content),
    ...signerIn(demand(signers[0], TAG.sequence)),
    content,
    certificates: certificates === undefined ? [] : inside(certificates).map(({ whole }) => whole),
  };
};

const TIME = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.(\d{1,9}))?Z$/;

const infoIn = (content: Buffer): Pick<TimeStampToken, 'imprint' | 'at' | 'nonce'> => {
  const [, , imprint, , time, ...others] = inside(readDer(content));
  const [algorithm, hashed] = inside(demand(imprint, TAG.sequence));
  const [, year, month, day, hour, minute, second, fraction = '0'] =
    TIME.exec(contentOf(time, TAG.generalizedTime).toString('latin1')) ?? fail();
  const at = new Date(
    `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.padEnd(3, '0').slice(0, 3)}Z`,
  );
  if (Number.isNaN(at.getTime())) throw new DerWrong();
  return {
    imprint: { hash: hashOf(algorithm), bytes: contentOf(hashed, TAG.octets) },
    at,
    nonce: others.find(({ tag }) => tag === TAG.integer)?.whole,
  };
};

type Signer = Pick<TimeStampToken, 'hash' | 'signed' | 'attributes' | 'algorithm' | 'signature'>;

const signerIn = (signer: Der): Signer => {
  const [, , digest, attributes, algorithm, signature] = inside(signer);
  const { whole } = demand(attributes, TAG.first);
  const entries = inside(attributes ?? fail()).map((attribute) => {
    const [name, values] = inside(demand(attribute, TAG.sequence));
    const [value, ...more] = inside(demand(values, TAG.set));
    if (value === undefined || more.length > 0) throw new DerWrong();
    return [textOfOid(name), value] as const;
  });
  return {
    hash: hashOf(digest),
    // The attributes are signed as a set, and not by the tag that they have here.
    signed: Buffer.concat([Buffer.of(TAG.set), whole.subarray(1)]),
    attributes: new Map(entries),
    algorithm: textOfOid(inside(demand(algorithm, TAG.sequence))[0]),
    signature: contentOf(signature, TAG.octets),
  };
};

/** The name of a hash function; another one is refused. */
export const hashOf = (algorithm: Der | undefined): string =>
  HASHES.get(textOfOid(inside(demand(algorithm, TAG.sequence))[0])) ?? fail();

export const textOfOid = (value: Der | undefined): string => {
  const bytes = contentOf(value, TAG.oid);
  const numbers: number[] = [];
  let number = 0;
  for (const byte of bytes) {
    number = number * 128 + (byte & 0x7f);
    if (byte < 0x80) {
      numbers.push(number);
      number = 0;
    }
  }
  const [first = 0, ...others] = numbers;
  const top = Math.min(Math.floor(first / 40), 2);
  return [top, first - top * 40, ...others].join('.');
};

const demandOid = (value: Der | undefined, text: string): void => {
  if (value?.whole.equals(oid(text)) !== true) throw new DerWrong();
};

const demand = (value: Der | undefined, tag: number): Der => {
  contentOf(value, tag);
  return value ?? fail();
};

const fail = (): never => {
  throw new DerWrong();
};
