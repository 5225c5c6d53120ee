import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { EMPTY_ROOT } from './hashes.ts';
import { idOfTyped, type Note, type NoteKey, parseTypedKey, textOfTyped, writeSignature } from './note.ts';
import { parseTreeHead } from './tree-head.ts';

/**
 * Cosignatures (C2SP tlog-cosignature): a witness says with the time that it has seen this head of a log, and no
 * head that contradicts it.
 */

export type CosignatureAlgorithm = 'Ed25519' | 'ML-DSA-44';

/** A key of a witness, by the name under which it signs. */
export type WitnessKey = NoteKey & { readonly algorithm: CosignatureAlgorithm };

type Signed = { readonly name: string; readonly text: string; readonly atS: number };

type Form = {
  readonly type: number;
  readonly keyBytes: number;
  readonly signatureBytes: number;
  keyOf(publicKey: string): { readonly kty: string } & Readonly<Record<string, string>>;
  /** The signed bytes; undefined if no such cosignature can be made of the text. */
  messageOf(signed: Signed): Buffer | undefined;
};

const TIME_BYTES = 8;
/** The end of the year 9999. */
const TIME_MAX_S = 253_402_300_799;
/** Lengths of a name and an origin are in one byte. */
const NAME_BYTES_MAX = 255;

const FORMS: Readonly<Record<CosignatureAlgorithm, Form>> = {
  Ed25519: {
    type: 4,
    keyBytes: 32,
    signatureBytes: 64,
    keyOf: (x) => ({ kty: 'OKP', crv: 'Ed25519', x }),
    messageOf: ({ text, atS }) =>
      parseTreeHead(text) && Buffer.from(`cosignature/v1\ntime ${atS}\n${text}`, 'utf8'),
  },
  'ML-DSA-44': {
    type: 6,
    keyBytes: 1_312,
    signatureBytes: 2_420,
    keyOf: (pub) => ({ kty: 'AKP', alg: 'ML-DSA-44', pub }),
    messageOf: ({ name, text, atS }) => {
      const head = parseTreeHead(text);
      // The signature does not cover lines of extensions, so a note that has some would seem to be signed as a
      // whole.
      if (head === undefined || text.split('\n').length !== LINES) return undefined;
      if (head.size === 0 && !head.root.equals(EMPTY_ROOT)) return undefined;
      const [ours, origin] = [Buffer.from(name), Buffer.from(head.origin)];
      if (ours.length > NAME_BYTES_MAX || origin.length > NAME_BYTES_MAX) return undefined;
      return Buffer.concat([
        Buffer.from('subtree/v1\n\0'),
        ...[Buffer.of(ours.length), ours, bigEndian(atS)],
        ...[Buffer.of(origin.length), origin, bigEndian(0), bigEndian(head.size), head.root],
      ]);
    },
  },
};
const ALGORITHMS = ['Ed25519', 'ML-DSA-44'] as const satisfies readonly CosignatureAlgorithm[];
/** The three of a head, and what follows its last line break. */
const LINES = 4;

const bigEndian = (number: number): Buffer => {
  const bytes = Buffer.alloc(TIME_BYTES);
  bytes.writeBigUInt64BE(BigInt(number));
  return bytes;
};

/** Undefined if it is no key of a witness. */
export const parseWitnessKey = (text: string): WitnessKey | undefined => {
  const key = parseTypedKey(text);
  const algorithm = ALGORITHMS.find((each) => FORMS[each].type === key?.type);
  if (key === undefined || algorithm === undefined) return undefined;
  const { name, publicKey } = key;
  return publicKey.length === FORMS[algorithm].keyBytes && opened({ name, publicKey, algorithm })
    ? { name, publicKey, algorithm }
    : undefined;
};

const typed = ({ algorithm, ...key }: WitnessKey) => ({ ...key, type: FORMS[algorithm].type });

export const witnessKeyIdOf = (key: WitnessKey): Buffer => idOfTyped(typed(key));

export const textOfWitnessKey = (key: WitnessKey): string => textOfTyped(typed(key));

/** Undefined if this Node does not know the algorithm. */
const opened = ({ algorithm, publicKey }: WitnessKey): KeyObject | undefined => {
  try {
    const key = FORMS[algorithm].keyOf(publicKey.toString('base64url'));
    return createPublicKey({ key, format: 'jwk' });
  } catch {
    return undefined;
  }
};

/** A line to be added to the note; undefined if the algorithm cannot sign such a text. */
export const cosign = (
  text: string,
  {
    key,
    privateKey,
    atS,
  }: { readonly key: WitnessKey; readonly privateKey: KeyObject; readonly atS: number },
): string | undefined => {
  const message = FORMS[key.algorithm].messageOf({ name: key.name, text, atS });
  if (message === undefined) return undefined;
  const signature = Buffer.concat([bigEndian(atS), sign(null, message, privateKey)]);
  return writeSignature(key.name, witnessKeyIdOf(key), signature);
};

export type FoundCosignature =
  | { readonly is: 'right'; readonly atS: number }
  | { readonly is: 'wrong' }
  | { readonly is: 'absent' };

/**
 * The cosignature of this key in a note. Of several, the first in time, and all must be right. The time 0 says that
 * the signer has no statement about time, and so about no other head either.
 */
export const cosignatureIn = (note: Note, key: WitnessKey): FoundCosignature => {
  const times = timesIn(note, key);
  if (times.includes(undefined)) return { is: 'wrong' };
  const stated = times.filter((atS) => atS !== undefined).filter((atS) => atS > 0);
  return stated.length === 0 ? { is: 'absent' } : { is: 'right', atS: Math.min(...stated) };
};

/** Whether a log that signs as cosigners do has signed the note, with or without a time. */
export const isLogSignedBy = (note: Note, key: WitnessKey): boolean => {
  const times = timesIn(note, key);
  return times.length > 0 && !times.includes(undefined);
};

/** Of each line of the key; undefined for a wrong one. */
const timesIn = ({ text, signatures }: Note, key: WitnessKey): readonly (number | undefined)[] => {
  const id = witnessKeyIdOf(key);
  const ours = signatures.filter((each) => each.name === key.name && each.id.equals(id));
  return ours.map(({ bytes }) => timeOf(text, key, bytes));
};

const timeOf = (text: string, key: WitnessKey, bytes: Buffer): number | undefined => {
  const { signatureBytes, messageOf } = FORMS[key.algorithm];
  if (bytes.length !== TIME_BYTES + signatureBytes) return undefined;
  const atS = Number(bytes.readBigUInt64BE());
  const message = atS <= TIME_MAX_S ? messageOf({ name: key.name, text, atS }) : undefined;
  const publicKey = opened(key);
  if (message === undefined || publicKey === undefined) return undefined;
  return verify(null, message, publicKey, bytes.subarray(TIME_BYTES)) ? atS : undefined;
};
