import { randomBytes, timingSafeEqual } from 'node:crypto';
import { loadArgon2id } from './argon2id.ts';

/** Argon2id with the minimum that OWASP recommends: 19 MiB, two passes, one lane. About 45 ms of one core. */
const CURRENT = { memoryKiB: 19_456, passes: 2, lanes: 1 } as const;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Limits one hash, whatever parameters a database row names. */
const MEMORY_KIB_MAX = 1_048_576;
const PASSES_MAX = 16;
const LANES_MAX = 16;

type Parameters = { readonly memoryKiB: number; readonly passes: number; readonly lanes: number };
type Parsed = { readonly parameters: Parameters; readonly salt: Buffer; readonly hash: Buffer };

/** Returns a new hash as a PHC string, which includes its parameters. */
export const hashPassword = async (password: string): Promise<string> => {
  const salt = randomBytes(SALT_BYTES);
  return format({
    parameters: CURRENT,
    salt,
    hash: await hashWith(password, { parameters: CURRENT, salt, hashBytes: HASH_BYTES }),
  });
};

/**
 * A check against it takes as long as any other. It is made of no password: a hash would take 19 MiB at each
 * start.
 */
export const hashOfNobody = (): string =>
  format({ parameters: CURRENT, salt: randomBytes(SALT_BYTES), hash: randomBytes(HASH_BYTES) });

/** Throws if the string is not one of ours: that is a broken row, not a wrong password. */
export const verifyPassword = async (password: string, phc: string): Promise<boolean> => {
  const { parameters, salt, hash } = parse(phc);
  return timingSafeEqual(await hashWith(password, { parameters, salt, hashBytes: hash.length }), hash);
};

/** Returns whether the hash was made with other parameters than the current ones. */
export const isOutdated = (phc: string): boolean => {
  const { parameters, salt, hash } = parse(phc);
  const { memoryKiB, passes, lanes } = parameters;
  const isCurrent = memoryKiB === CURRENT.memoryKiB && passes === CURRENT.passes && lanes === CURRENT.lanes;
  return !isCurrent || salt.length < SALT_BYTES || hash.length < HASH_BYTES;
};

/** Composed and decomposed letters give the same password on every keyboard (RFC 8265, 4.2). */
const hashWith = async (
  password: string,
  { parameters, salt, hashBytes }: { parameters: Parameters; salt: Buffer; hashBytes: number },
): Promise<Buffer> => {
  const derive = await loadArgon2id();
  return derive({
    message: password.normalize('NFC'),
    nonce: salt,
    parallelism: parameters.lanes,
    memory: parameters.memoryKiB,
    passes: parameters.passes,
    tagLength: hashBytes,
  });
};

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

const format = ({ parameters: { memoryKiB, passes, lanes }, salt, hash }: Parsed): string =>
  `$argon2id$v=19$m=${memoryKiB},t=${passes},p=${lanes}$${unpadded(salt)}$${unpadded(hash)}`;

const PHC =
  /^\$argon2id\$v=19\$m=(\d{1,8}),t=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

const parse = (phc: string): Parsed => {
  const [, memory, passes, lanes, salt = '', hash = ''] = PHC.exec(phc) ?? [];
  const parameters = { memoryKiB: Number(memory), passes: Number(passes), lanes: Number(lanes) };
  if (
    !(
      parameters.memoryKiB <= MEMORY_KIB_MAX &&
      parameters.passes <= PASSES_MAX &&
      parameters.lanes <= LANES_MAX
    )
  ) {
    throw new Error('a stored password hash is not an argon2id PHC string within bounds');
  }
  return { parameters, salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') };
};
