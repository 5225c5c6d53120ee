import { UPLOADS } from './upload-name.ts';

/** The name of a stored file of any type; its address states the type. */
export const FILE_NAME =
  /^([1-9]\d{0,15})-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.file$/;

/** The facts about a file, which its address states, so that the event and the proof contain them. */
export type FileFacts = {
  readonly type: string;
  readonly bytes: number;
  /** The SHA-256 digest of the content, in hexadecimal. */
  readonly sha256: string;
  /** The file name that the client gave, made safe; null if it gave none. */
  readonly name: string | null;
};

const TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,99}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,99}$/;
const SHA256 = /^[0-9a-f]{64}$/;
const BYTES = /^[1-9]\d{0,14}$/;
const FILE_NAME_CHARACTERS_MAX = 150;
/** Of a name in which each character needs four bytes, and of the longest type. */
export const ADDRESS_CHARACTERS_MAX = 4_096;

export const isMediaType = (text: string): boolean => TYPE.test(text);

/** The facts as a query, always in the same order. */
export const queryOfFile = ({ type, bytes, sha256, name }: FileFacts): string =>
  [
    `type=${encoded(type)}`,
    `bytes=${bytes}`,
    `sha256=${sha256}`,
    ...(name === null ? [] : [`name=${encoded(name)}`]),
  ].join('&');

/** Without an apostrophe, because pages put addresses into attributes. */
const encoded = (text: string): string => encodeURIComponent(text).replaceAll("'", '%27');

/** The facts in a query, which may have other parameters besides; undefined if one is missing or invalid. */
export const factsInQuery = (query: Readonly<Record<string, unknown>>): FileFacts | undefined => {
  const { type, bytes, sha256, name = null } = query;
  if (typeof type !== 'string' || !TYPE.test(type)) return undefined;
  if (typeof bytes !== 'string' || !BYTES.test(bytes)) return undefined;
  if (typeof sha256 !== 'string' || !SHA256.test(sha256)) return undefined;
  if (name !== null && (typeof name !== 'string' || name !== safeFileName(name))) return undefined;
  return { type, bytes: Number(bytes), sha256, name };
};

/** The path of a stored file, without its facts. */
export const storedPathOf = (address: string): string => address.split('?', 1)[0] ?? '';

/** The facts that the address of a file states; undefined for any other text, such as that of a picture. */
export const factsOfFile = (address: string): FileFacts | undefined => {
  const path = storedPathOf(address);
  if (!path.startsWith(UPLOADS) || !FILE_NAME.test(path.slice(UPLOADS.length))) return undefined;
  const facts = factsInQuery(Object.fromEntries(new URLSearchParams(address.slice(path.length + 1))));
  // Each file has one address, so that texts can be compared.
  return facts !== undefined && `${path}?${queryOfFile(facts)}` === address ? facts : undefined;
};

/**
 * Characters that lead to another folder, end a header, change the direction of writing, or are forbidden in names
 * of files on some system.
 */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"*/:<>?\\|]/gu;

/**
 * The last part of the name that a client gave, without characters that could lead elsewhere; undefined if
 * nothing is left. Its ending stays, as far as there is room.
 */
export const safeFileName = (given: string): string | undefined => {
  const [last = ''] = given.split(/[\\/]/).slice(-1);
  const name = last
    .toWellFormed()
    .normalize('NFC')
    .replaceAll(UNSAFE, '_')
    .replaceAll(/\s+/g, ' ')
    .replace(/^[. ]+/, '')
    .replace(ENDS_BADLY, '');
  if (/^[_ ]*$/.test(name)) return undefined;
  const characters = [...name];
  if (characters.length <= FILE_NAME_CHARACTERS_MAX) return name;
  const ending = [...(/\.[^.]{1,20}$/.exec(name)?.[0] ?? '')];
  const [from, to] = [0, FILE_NAME_CHARACTERS_MAX - ending.length];
  return [...characters.slice(from, to), ...ending].join('').replace(ENDS_BADLY, '');
};

/** Windows removes these from the end of a name. */
const ENDS_BADLY = /[. ]+$/;
