import type { UserId } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { hashPassword, isOutdated, verifyPassword } from './password-hash.ts';
import { createTurns, TooBusy } from './turns.ts';

/** Passwords, as argon2id PHC strings; they are no events, because they must not outlive their change. */
export type Credentials = {
  /** Whether it is this person's password. Nobody, or somebody without one, takes as long as somebody with one. */
  verify(userId: UserId | undefined, password: string): Promise<boolean>;
  set(userId: UserId, password: string): Promise<void>;
  /** When it was set; undefined for who has none. */
  changedAt(userId: UserId): Promise<Date | undefined>;
  /** Only the hash, for what is not yet somebody's. */
  hash(password: string): Promise<string>;
  matches(password: string, phc: string): Promise<boolean>;
};

/** A hash takes 19 MiB and a thread; node has four, and files and names need some, too. */
const AT_ONCE_MAX = 2;
/** At 45 ms each, the last of them waits about two seconds. */
const WAITING_MAX = 100;

export const createCredentials = async (pool: Pool): Promise<Credentials> => {
  const inTurn = createTurns({ atOnceMax: AT_ONCE_MAX, waitingMax: WAITING_MAX });
  const nobodys = await hashPassword('nobody has this password');
  return {
    async verify(userId, password) {
      const phc = await selectPhc(pool, userId ?? NOBODY);
      const isRight = await inTurn(() => verifyPassword(password, phc ?? nobodys));
      if (userId === undefined || phc === undefined || !isRight) return false;
      // Where there is no time for it, it is done at the next sign-in.
      if (isOutdated(phc)) await inTurn(() => renew(pool, userId, { password, phc })).catch(unlessBusy);
      return true;
    },
    set: async (userId, password) => upsertPhc(pool, userId, await inTurn(() => hashPassword(password))),
    changedAt: (userId) => selectChangedAt(pool, userId),
    hash: (password) => inTurn(() => hashPassword(password)),
    matches: (password, phc) => inTurn(() => verifyPassword(password, phc)),
  };
};

/** No user's id, so that asking for nobody takes the same steps. */
const NOBODY = 0 as UserId;

const unlessBusy = (error: unknown): void => {
  if (!(error instanceof TooBusy)) throw error;
};

const selectPhc = async (pool: Pool, userId: UserId): Promise<string | undefined> => {
  const { rows } = await pool.query<{ phc: string }>('select phc from auth.credential where user_id = $1', [userId]);
  return rows[0]?.phc;
};

/** Answers false where the person was deleted. Nobody comes to have a password between that and the end of this. */
export const setPhc = async (database: Pick<Pool, 'query'>, userId: UserId, phc: string): Promise<boolean> => {
  const { rowCount } = await database.query(
    `insert into auth.credential (user_id, phc)
     select user_id, $2 from auth.person where user_id = $1 and status = 'active' for share
     on conflict (user_id) do update set phc = excluded.phc, changed_at = now()`,
    [userId, phc],
  );
  return rowCount === 1;
};

const upsertPhc = async (pool: Pool, userId: UserId, phc: string): Promise<void> => {
  await pool.query(
    `insert into auth.credential (user_id, phc) values ($1, $2)
     on conflict (user_id) do update set phc = excluded.phc, changed_at = now()`,
    [userId, phc],
  );
};

const selectChangedAt = async (pool: Pool, userId: UserId): Promise<Date | undefined> => {
  const { rows } = await pool.query<{ changed_at: Date }>('select changed_at from auth.credential where user_id = $1', [userId]);
  return rows[0]?.changed_at;
};

/** A password that was changed meanwhile stays changed. */
const renew = async (pool: Pool, userId: UserId, { password, phc }: { password: string; phc: string }): Promise<void> => {
  const renewed = await hashPassword(password);
  await pool.query('update auth.credential set phc = $3 where user_id = $1 and phc = $2', [userId, phc, renewed]);
};
