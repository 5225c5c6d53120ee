// Over 200 lines, because it is one thing: the codes of a person, with their statements.
import type { UserId } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { seal as sealBytes, unseal } from '#shared/keys/seal.ts';
import type { RecordSecurityEvent, SecurityContext } from '../security/security-log.ts';
import type { RecordSeal } from '../storage/seal-record.ts';
import { newRecoveryCodes, recoveryCodeIn } from './recovery-codes.ts';
import { stepOfCode } from './totp.ts';

/**
 * Second factors beside the password: an app that shows codes, and recovery codes on paper for when the app
 * is lost.
 */
export type SecondFactors = {
  /** Undefined without a second factor. */
  of(userId: UserId): Promise<{ readonly madeAt: Date; readonly codesLeft: number } | undefined>;
  /**
   * Turns the factor on after a code has shown that the app has the secret. Returns the recovery codes, which
   * are stored nowhere.
   */
  turnOn(
    userId: UserId,
    confirmed: Confirmed,
    by: SecurityContext,
  ): Promise<readonly string[] | 'wrong' | 'there_already'>;
  /**
   * Returns whether it is a code of the app or a recovery code, and uses it up. Of parallel attempts with one
   * code, one succeeds.
   */
  use(userId: UserId, typed: Typed, by: SecurityContext): Promise<boolean>;
  /** Replaces the recovery codes; undefined without a second factor. */
  renewRecoveryCodes(userId: UserId, by: SecurityContext): Promise<readonly string[] | undefined>;
  /** Returns whether there was one. */
  turnOff(userId: UserId, by: SecurityContext): Promise<boolean>;
};

type Confirmed = { readonly secret: Buffer; readonly code: string };
export type Typed = { readonly kind: 'app' | 'recovery'; readonly code: string };

type SecondFactorDependencies = {
  readonly pool: Pool;
  readonly seal: RecordSeal;
  readonly keys: Pick<KeyStore, 'obtain' | 'find'>;
  readonly record: RecordSecurityEvent;
};

export const createSecondFactors = (dependencies: SecondFactorDependencies): SecondFactors => {
  const { pool, seal, record } = dependencies;
  return {
    async of(userId) {
      const factor = await selectFactor(pool, userId);
      return factor === undefined ? undefined : { madeAt: factor.madeAt, codesLeft: factor.codesLeft };
    },
    turnOn: (userId, confirmed, by) => turnOn(dependencies, userId, confirmed, by),
    use: (userId, { kind, code }, by) =>
      kind === 'app'
        ? useAppCode(dependencies, userId, code)
        : useRecoveryCode(dependencies, userId, code, by),
    async renewRecoveryCodes(userId, by) {
      const codes = newRecoveryCodes();
      const digests = codes.map((code) => digestOf(seal, userId, code));
      if (!(await inTransaction(pool, (connection) => replaceRecoveryCodes(connection, userId, digests))))
        return undefined;
      await record({ type: 'account.recovery_codes_renewed', data: { userId } }, by);
      return codes;
    },
    turnOff: (userId, by) => turnOffSecondFactor(dependencies, userId, by),
  };
};

/** Also for support actions. */
export const turnOffSecondFactor = async (
  { pool, record }: Pick<SecondFactorDependencies, 'pool' | 'record'>,
  userId: UserId,
  by: SecurityContext,
): Promise<boolean> => {
  const wasThere = await inTransaction(pool, (connection) => deleteFactor(connection, userId));
  if (wasThere) await record({ type: 'account.second_factor_removed', data: { userId } }, by);
  return wasThere;
};

const turnOn = async (
  { pool, seal, keys, record }: SecondFactorDependencies,
  userId: UserId,
  { secret, code }: Confirmed,
  by: SecurityContext,
): ReturnType<SecondFactors['turnOn']> => {
  const step = stepOfCode(secret, plainCode(code), Date.now());
  if (step === undefined) return 'wrong';
  const sealed = sealBytes(await keys.obtain(userId), secret, bindingOf(userId));
  const codes = newRecoveryCodes();
  const isOn = await inTransaction(pool, async (connection) => {
    const isNew = await insertFactor(connection, { userId, sealed, step });
    const digests = codes.map((each) => digestOf(seal, userId, each));
    return isNew && replaceRecoveryCodes(connection, userId, digests);
  });
  if (!isOn) return 'there_already';
  await record({ type: 'account.second_factor_added', data: { userId } }, by);
  return codes;
};

const useAppCode = async (
  { pool, keys }: SecondFactorDependencies,
  userId: UserId,
  code: string,
): Promise<boolean> => {
  const factor = await selectFactor(pool, userId);
  const key = (await keys.find([userId])).get(userId);
  if (factor === undefined || key === undefined || key === 'destroyed') return false;
  const step = stepOfCode(unseal(key, factor.sealed, bindingOf(userId)), plainCode(code), Date.now());
  return step !== undefined && takeStep(pool, userId, step);
};

const useRecoveryCode = async (
  { pool, seal, record }: SecondFactorDependencies,
  userId: UserId,
  typed: string,
  by: SecurityContext,
): Promise<boolean> => {
  const code = recoveryCodeIn(typed);
  if (code === undefined) return false;
  const left = await takeRecoveryCode(pool, userId, digestOf(seal, userId, code));
  if (left === undefined) return false;
  await record({ type: 'account.recovery_code_used', data: { userId, left } }, by);
  return true;
};

/** Apps show a code in two groups. */
const plainCode = (typed: string): string => typed.replaceAll(/\s/g, '');

const bindingOf = (userId: UserId): string => `second-factor:${userId}`;

/** Ignores the grouping. */
const digestOf = (seal: RecordSeal, userId: UserId, code: string): Buffer =>
  seal.hash('recovery code', `${userId}\0${code.replaceAll('-', '')}`);

type Queryable = Pick<Pool, 'query'>;

type Factor = { readonly sealed: Buffer; readonly madeAt: Date; readonly codesLeft: number };

const selectFactor = async (database: Queryable, userId: UserId): Promise<Factor | undefined> => {
  const { rows } = await database.query<Factor>(
    `select sealed, made_at as "madeAt",
       (select count(*)::integer from auth.recovery_code where user_id = $1) as "codesLeft"
     from auth.second_factor where user_id = $1`,
    [userId],
  );
  return rows[0];
};

type NewFactor = { readonly userId: UserId; readonly sealed: Buffer; readonly step: number };

/** Returns false if there is one already, or the person was deleted. */
const insertFactor = async (database: Queryable, { userId, sealed, step }: NewFactor): Promise<boolean> => {
  const { rowCount } = await database.query(
    `insert into auth.second_factor (user_id, sealed, last_step)
     select user_id, $2, $3 from auth.person where user_id = $1 and status = 'active' for share
     on conflict do nothing`,
    [userId, sealed, step],
  );
  return rowCount === 1;
};

/** Uses up all codes up to this step; of parallel callers with one code, one succeeds. */
const takeStep = async (database: Queryable, userId: UserId, step: number): Promise<boolean> => {
  const { rowCount } = await database.query(
    'update auth.second_factor set last_step = $2 where user_id = $1 and last_step < $2',
    [userId, step],
  );
  return rowCount === 1;
};

/** Returns how many are left; undefined if it is not a recovery code. */
const takeRecoveryCode = async (
  database: Queryable,
  userId: UserId,
  digest: Buffer,
): Promise<number | undefined> => {
  const { rowCount } = await database.query(
    'delete from auth.recovery_code where user_id = $1 and digest = $2',
    [userId, digest],
  );
  if (rowCount !== 1) return undefined;
  const { rows } = await database.query<{ left: number }>(
    'select count(*)::integer as left from auth.recovery_code where user_id = $1',
    [userId],
  );
  return rows[0]?.left ?? 0;
};

/**
 * Invalidates the former codes. Only a person with a second factor has any: its row is locked, so that two
 * sets do not mix.
 */
const replaceRecoveryCodes = async (
  database: Queryable,
  userId: UserId,
  digests: readonly Buffer[],
): Promise<boolean> => {
  const { rowCount } = await database.query('select from auth.second_factor where user_id = $1 for update', [
    userId,
  ]);
  if (rowCount !== 1) return false;
  await database.query('delete from auth.recovery_code where user_id = $1', [userId]);
  await database.query('insert into auth.recovery_code (user_id, digest) select $1, unnest($2::bytea[])', [
    userId,
    digests,
  ]);
  return true;
};

/** Returns whether there was one. */
const deleteFactor = async (database: Queryable, userId: UserId): Promise<boolean> => {
  const { rowCount } = await database.query('delete from auth.second_factor where user_id = $1', [userId]);
  await database.query('delete from auth.recovery_code where user_id = $1', [userId]);
  return rowCount === 1;
};
