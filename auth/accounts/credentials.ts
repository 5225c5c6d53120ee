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
import { hashOfNobody, hashPassword, isOutdated, verifyPassword } from './password-hash.ts';

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
