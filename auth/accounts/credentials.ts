// Over 200 lines, because it is one thing: passwords, their hashes and where they are stored.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { UserId } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import {
  type GrantingTable,
  type Proven,
  provenColumns,
  type RowProofs,
} from '#shared/row-proofs/row-proofs.ts';
import { createSemaphore, TooBusy } from '../security/semaphore.ts';
import { loadArgon2id } from './argon2id.ts';

/**
 * Passwords as argon2id PHC strings. They are not in events, because an old hash must not outlive a change.
 */
export type Credentials = {
  /**
   * Returns whether it is this person's password. It takes the same time for an unknown person and for one
   * without a password.
   */
  verify(userId: UserId | undefined, password: string): Promise<boolean>;
  set(userId: UserId, password: string): Promise<void>;
  /** The time of the last change; undefined without a password. */
  changedAt(userId: UserId): Promise<Date | undefined>;
  /** Hashes a password that belongs to no user yet. */
  hash(password: string): Promise<string>;
  matches(password: string, phc: string): Promise<boolean>;
};

/**
 * A hash takes 19 MiB and a thread. Node has four threads, and file access and name resolution need some too.
 */
const AT_ONCE_MAX = 2;
/** At 45 ms each, the last in the queue waits about two seconds. */
const WAITING_MAX = 100;

type Dependencies = { readonly pool: Pool; readonly rowProofs: Pick<RowProofs, 'of' | 'check'> };

export const createCredentials = async (dependencies: Dependencies): Promise<Credentials> => {
  const { pool } = dependencies;
  const limited = createSemaphore({ atOnceMax: AT_ONCE_MAX, waitingMax: WAITING_MAX });
  // Refuses the start if it is missing.
  await loadArgon2id();
  const nobodys = hashOfNobody();
  return {
    async verify(userId, password) {
      const phc = await selectPhc(dependencies, userId ?? NOBODY);
      const isRight = await limited(() => verifyPassword(password, phc ?? nobodys));
      if (userId === undefined || phc === undefined || !isRight) return false;
      // If the queue is full, the next sign-in renews the hash.
      if (isOutdated(phc))
        await limited(() => renew(dependencies, userId, { password, phc })).catch(unlessBusy);
      return true;
    },
    set: async (userId, password) =>
      upsertPhc(dependencies, userId, await limited(() => hashPassword(password))),
    changedAt: (userId) => selectChangedAt(pool, userId),
    hash: (password) => limited(() => hashPassword(password)),
    matches: (password, phc) => limited(() => verifyPassword(password, phc)),
  };
};

/** No user has this id, so a check for nobody takes the same steps. */
const NOBODY = 0 as UserId;

const unlessBusy = (error: unknown): void => {
  if (!(error instanceof TooBusy)) throw error;
};

type GrantingCredential = { readonly userId: UserId; readonly phc: string };

export const CREDENTIALS: GrantingTable<GrantingCredential> = {
  name: 'auth.credential',
  key: 'userId',
  keyType: 'bigint',
  columns: { userId: 'user_id', phc: 'phc' },
};

/** A password that we have not written is none. */
const selectPhc = async ({ pool, rowProofs }: Dependencies, userId: UserId): Promise<string | undefined> => {
  const { rows } = await pool.query<GrantingCredential & Proven>(
    `select ${provenColumns(CREDENTIALS)} from auth.credential where user_id = $1`,
    [userId],
  );
  const [row] = rows;
  return row && (await rowProofs.check(CREDENTIALS, row)) ? row.phc : undefined;
};

type Writing = { readonly database: Pick<Pool, 'query'>; readonly rowProofs: Pick<RowProofs, 'of'> };

/**
 * Returns false if the person was deleted. Until the transaction ends, a deleted person cannot get a
 * password.
 */
export const setPhc = async (
  { database, rowProofs }: Writing,
  userId: UserId,
  phc: string,
): Promise<boolean> => {
  const { rowCount } = await database.query(
    `insert into auth.credential (user_id, phc, proof)
     select user_id, $2, $3 from auth.person where user_id = $1 and status = 'active' for share
     on conflict (user_id) do update set phc = excluded.phc, proof = excluded.proof, changed_at = now()`,
    [userId, phc, rowProofs.of(CREDENTIALS, { userId, phc })],
  );
  return rowCount === 1;
};

const upsertPhc = async ({ pool, rowProofs }: Dependencies, userId: UserId, phc: string): Promise<void> => {
  await pool.query(
    `insert into auth.credential (user_id, phc, proof) values ($1, $2, $3)
     on conflict (user_id) do update set phc = excluded.phc, proof = excluded.proof, changed_at = now()`,
    [userId, phc, rowProofs.of(CREDENTIALS, { userId, phc })],
  );
};

const selectChangedAt = async (pool: Pool, userId: UserId): Promise<Date | undefined> => {
  const { rows } = await pool.query<{ changed_at: Date }>(
    'select changed_at from auth.credential where user_id = $1',
    [userId],
  );
  return rows[0]?.changed_at;
};

/** Keeps a password that was changed in the meantime. */
const renew = async (
  { pool, rowProofs }: Dependencies,
  userId: UserId,
  { password, phc }: { password: string; phc: string },
): Promise<void> => {
  const renewed = await hashPassword(password);
  const proof = rowProofs.of(CREDENTIALS, { userId, phc: renewed });
  await pool.query('update auth.credential set phc = $3, proof = $4 where user_id = $1 and phc = $2', [
    userId,
    phc,
    renewed,
    proof,
  ]);
};

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
const hashOfNobody = (): string =>
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
