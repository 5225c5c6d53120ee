import { createHash, createPublicKey, verify } from 'node:crypto';

/** Signed notes of C2SP: a text, and lines of signatures, each with the name and the id of its key. */

/** An Ed25519 key that signs notes, by the name under which it signs. */
export type NoteKey = { readonly name: string; readonly publicKey: Buffer };

const ED25519 = 1;
const KEY_BYTES = 32;
const ID_BYTES = 4;
const SIGNATURE_BYTES = 64;
const DASH = '— ';

/** A key with the type of its signatures, as C2SP assigns them. */
export type TypedKey = NoteKey & { readonly type: number };

/** The hint by which a verifier finds the key of a signature. */
export const idOfTyped = ({ name, type, publicKey }: TypedKey): Buffer =>
  createHash('sha256')
    .update(`${name}\n`)
    .update(Buffer.of(type))
    .update(publicKey)
    .digest()
    .subarray(0, ID_BYTES);

export const keyIdOf = (key: NoteKey): Buffer => idOfTyped({ ...key, type: ED25519 });

/** A key as verifiers of notes take it: `name+id+key`. */
export const textOfTyped = (key: TypedKey): string =>
  `${key.name}+${idOfTyped(key).toString('hex')}+${Buffer.concat([Buffer.of(key.type), key.publicKey]).toString('base64')}`;

export const verifierKeyOf = (key: NoteKey): string => textOfTyped({ ...key, type: ED25519 });

const VERIFIER_KEY = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)$/;

/** Undefined if it is no key, or if its id is that of another one. */
export const parseTypedKey = (text: string): TypedKey | undefined => {
  const [, name, id, encoded] = VERIFIER_KEY.exec(text.trim()) ?? [];
  if (name === undefined || encoded === undefined) return undefined;
  const [type, ...bytes] = Buffer.from(encoded, 'base64');
  if (type === undefined) return undefined;
  const key = { name, type, publicKey: Buffer.from(bytes) };
  return idOfTyped(key).toString('hex') === id ? key : undefined;
};

/** The same of an Ed25519 key alone. */
export const parseVerifierKey = (text: string): NoteKey | undefined => {
  const key = parseTypedKey(text);
  return key?.type === ED25519 && key.publicKey.length === KEY_BYTES
    ? { name: key.name, publicKey: key.publicKey }
    : undefined;
};

type Signature = { readonly name: string; readonly id: Buffer; readonly bytes: Buffer };

export type Note = { readonly text: string; readonly signatures: readonly Signature[] };

/** The text ends with a line break, and the signature is over all of it. */
export const writeNote = (text: string, key: NoteKey, signature: Buffer): string =>
  `${text}\n${writeSignature(key.name, keyIdOf(key), signature)}`;

export const writeSignature = (name: string, id: Buffer, signature: Buffer): string =>
  `${DASH}${name} ${Buffer.concat([id, signature]).toString('base64')}\n`;

const SIGNATURE = /^— ([^\s+]+) ([A-Za-z0-9+/]+=*)$/;
export const SIGNATURES_MAX = 100;
/** Characters that a note cannot have: all control characters of ASCII but the line break. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const CONTROL = /[\0-\x09\x0b-\x1f]/;

/** Undefined if the text is no signed note. */
export const parseNote = (note: string): Note | undefined => {
  const end = note.lastIndexOf('\n\n');
  if (end < 0 || !note.endsWith('\n') || CONTROL.test(note)) return undefined;
  const lines = note.slice(end + 2, -1).split('\n');
  if (lines.length > SIGNATURES_MAX) return undefined;
  const signatures = lines.map(parseSignature);
  return signatures.every((each) => each !== undefined)
    ? { text: note.slice(0, end + 1), signatures: signatures.filter((each) => each !== undefined) }
    : undefined;
};

const parseSignature = (line: string): Signature | undefined => {
  const [, name, encoded = ''] = SIGNATURE.exec(line) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  return name === undefined || bytes.length <= ID_BYTES
    ? undefined
    : { name, id: bytes.subarray(0, ID_BYTES), bytes: bytes.subarray(ID_BYTES) };
};

/** Whether the key has signed the note; a wrong signature in its name is none. */
export const isNoteSignedBy = ({ text, signatures }: Note, key: NoteKey): boolean => {
  const ours = signatures.filter(({ name, id }) => name === key.name && id.equals(keyIdOf(key)));
  return ours.length > 0 && ours.every(({ bytes }) => isRight(text, key, bytes));
};

const isRight = (text: string, { publicKey }: NoteKey, signature: Buffer): boolean => {
  if (signature.length !== SIGNATURE_BYTES) return false;
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') },
    format: 'jwk',
  });
  return verify(null, Buffer.from(text), key, signature);
};
