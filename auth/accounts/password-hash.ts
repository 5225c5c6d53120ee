import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** Argon2id at what OWASP recommends at the least: 19 MiB, two passes, one lane. About 45 ms of one core. */
const CURRENT = { memoryKiB: 19_456, passes: 2, lanes: 1 } as const;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Whatever stands in the database, one hash takes no more than this. */
const MEMORY_KIB_MAX = 1_048_576;
const PASSES_MAX = 16;
const LANES_MAX = 16;

type Parameters = { readonly memoryKiB: number; readonly passes: number; readonly lanes: number };
type Parsed = { readonly parameters: Parameters; readonly salt: Buffer; readonly hash: Buffer };

const derive = promisify(argon2);

/** A new hash as a PHC string, which says how it was made. */
export const hashPassword = async (password: string): Promise<string> => {
  const salt = randomBytes(SALT_BYTES);
  return format({ parameters: CURRENT, salt, hash: await hashWith(password, { parameters: CURRENT, salt, hashBytes: HASH_BYTES }) });
};

/** Throws where the string is not one of ours: that is no wrong password, but a broken row. */
export const verifyPassword = async (password: string, phc: string): Promise<boolean> => {
  const { parameters, salt, hash } = parse(phc);
  return timingSafeEqual(await hashWith(password, { parameters, salt, hashBytes: hash.length }), hash);
};

/** Whether it was made with other parameters than those of today. */
export const isOutdated = (phc: string): boolean => {
  const { parameters, salt, hash } = parse(phc);
  const { memoryKiB, passes, lanes } = parameters;
  const isCurrent = memoryKiB === CURRENT.memoryKiB && passes === CURRENT.passes && lanes === CURRENT.lanes;
  return !isCurrent || salt.length < SALT_BYTES || hash.length < HASH_BYTES;
};

/** Composed and decomposed letters are the same password, whichever keyboard typed them (RFC 8265, 4.2). */
const hashWith = (
  password: string,
  { parameters, salt, hashBytes }: { parameters: Parameters; salt: Buffer; hashBytes: number },
): Promise<Buffer> =>
  derive('argon2id', {
    message: password.normalize('NFC'),
    nonce: salt,
    parallelism: parameters.lanes,
    memory: parameters.memoryKiB,
    passes: parameters.passes,
    tagLength: hashBytes,
  });

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

const format = ({ parameters: { memoryKiB, passes, lanes }, salt, hash }: Parsed): string =>
  `$argon2id$v=19$m=${memoryKiB},t=${passes},p=${lanes}$${unpadded(salt)}$${unpadded(hash)}`;

const PHC = /^\$argon2id\$v=19\$m=(\d{1,8}),t=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

const parse = (phc: string): Parsed => {
  const [, memory, passes, lanes, salt = '', hash = ''] = PHC.exec(phc) ?? [];
  const parameters = { memoryKiB: Number(memory), passes: Number(passes), lanes: Number(lanes) };
  if (!(parameters.memoryKiB <= MEMORY_KIB_MAX && parameters.passes <= PASSES_MAX && parameters.lanes <= LANES_MAX)) {
    throw new Error('a stored password hash is not an argon2id PHC string within bounds');
  }
  return { parameters, salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') };
};
