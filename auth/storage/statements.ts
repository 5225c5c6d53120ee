import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';

export type Queryable = Pick<Pool, 'query'>;

export const migrateAuthStorage = (pool: Pool): Promise<void> =>
  migrate(pool, 'auth-storage', new URL('./migrations/', import.meta.url));

export type RecordKey = { readonly kind: string; readonly idHash: Buffer };

type RecordRow = RecordKey & {
  readonly sealed: Buffer;
  readonly otherHash: Buffer | null;
  readonly grantId: string | null;
  readonly accountId: string | null;
  readonly clientId: string | null;
  readonly stage: number;
  /** The stage that an existing record must be in. */
  readonly stageBefore: number;
  /** Null: it never expires. */
  readonly expiresInS: number | null;
};

export type FoundRecord = {
  readonly idHash: Buffer;
  readonly sealed: Buffer;
  readonly consumedAt: Date | null;
};

/**
 * Inserts or replaces a record; returns whether it did. Of two parallel changes from one stage to the next,
 * one succeeds, and an ended record cannot be restored.
 */
export const upsertRecord = async (pool: Pool, row: RecordRow): Promise<boolean> => {
  // Not one statement with `on conflict (kind, id_hash) do update`: parallel inserts of the same record would
  // wait for each other on the other unique index.
  const inserted = await pool.query(insertOf(row));
  if (inserted.rowCount === 1) return true;
  const replaced = await pool.query(replacementOf(row));
  return replaced.rowCount === 1;
};

/**
 * A request that began before the deletion of its person leaves nothing: either the lock waits for the
 * deletion, or that waits for the lock, and then deletes the record.
 */
const OF_NOBODY_DELETED = `with person as materialized (
    select status from auth.person where user_id = case when $6 ~ '^[0-9]{1,16}$' then $6::bigint end for share)`;
const NOBODY_IS_DELETED = `not exists (select from person where status = 'deleted')`;

const insertOf = (row: RecordRow) => ({
  name: 'auth-insert-record',
  text: `${OF_NOBODY_DELETED}
         insert into auth.record (kind, id_hash, sealed, other_hash, grant_id, account_id, client_id, stage, expires_at)
         select $1, $2, $3, $4, $5, $6, $7, $8, now() + $9 * interval '1 second' where ${NOBODY_IS_DELETED}
         on conflict do nothing`,
  values: columnsOf(row),
});

const replacementOf = (row: RecordRow) => ({
  name: 'auth-replace-record',
  text: `${OF_NOBODY_DELETED}
         update auth.record
         set sealed = $3, other_hash = coalesce($4, other_hash), grant_id = $5, account_id = $6, client_id = $7, stage = $8,
             expires_at = now() + $9 * interval '1 second'
         where kind = $1 and id_hash = $2 and stage = $10 and ended_at is null and ${NOBODY_IS_DELETED}`,
  values: [...columnsOf(row), row.stageBefore],
});

const columnsOf = (row: RecordRow) => [
  row.kind,
  row.idHash,
  row.sealed,
  row.otherHash,
  row.grantId,
  row.accountId,
  row.clientId,
  row.stage,
  row.expiresInS,
];

const FOUND = 'id_hash as "idHash", sealed, consumed_at as "consumedAt"';

export const selectRecord = async (
  database: Queryable,
  { kind, idHash }: RecordKey,
): Promise<FoundRecord | undefined> => {
  const { rows } = await database.query<FoundRecord>({
    name: 'auth-select-record',
    text: `select ${FOUND} from auth.record where kind = $1 and id_hash = $2 and ended_at is null`,
    values: [kind, idHash],
  });
  return rows[0];
};

export const selectRecordByOtherName = async (
  database: Queryable,
  kind: string,
  otherHash: Buffer,
): Promise<FoundRecord | undefined> => {
  const { rows } = await database.query<FoundRecord>(
    `select ${FOUND} from auth.record where kind = $1 and other_hash = $2`,
    [kind, otherHash],
  );
  return rows[0];
};

/** Consumes a record once; returns whether this call did. */
export const consumeRecord = async (database: Queryable, { kind, idHash }: RecordKey): Promise<boolean> => {
  const { rowCount } = await database.query({
    name: 'auth-consume-record',
    text: 'update auth.record set consumed_at = clock_timestamp() where kind = $1 and id_hash = $2 and consumed_at is null',
    values: [kind, idHash],
  });
  return rowCount === 1;
};

export const deleteRecord = async (database: Queryable, { kind, idHash }: RecordKey): Promise<void> => {
  await database.query('delete from auth.record where kind = $1 and id_hash = $2', [kind, idHash]);
};

export const selectGrantOf = async (
  database: Queryable,
  { kind, idHash }: RecordKey,
): Promise<string | undefined> => {
  const { rows } = await database.query<{ grant_id: string | null }>(
    'select grant_id from auth.record where kind = $1 and id_hash = $2',
    [kind, idHash],
  );
  return rows[0]?.grant_id ?? undefined;
};

export const deleteRecordsOfGrant = async (
  database: Queryable,
  kind: string,
  grantId: string,
): Promise<void> => {
  await database.query('delete from auth.record where kind = $1 and grant_id = $2', [kind, grantId]);
};

/** A client chooses the lifetime of its assertion; this keeps the time within the database's range. */
const USED_ONCE_KEPT_MAX_S = 10 * 365 * 86_400;

/** Records the digest of a single-use value; returns whether it is new. */
export const insertUsedOnce = async (
  database: Queryable,
  digest: Buffer,
  expiresInS: number,
): Promise<boolean> => {
  const { rowCount } = await database.query({
    name: 'auth-insert-used-once',
    text: `insert into auth.used_once (digest, expires_at) values ($1, now() + $2 * interval '1 second') on conflict do nothing`,
    values: [digest, Math.min(expiresInS, USED_ONCE_KEPT_MAX_S)],
  });
  return rowCount === 1;
};

type Poll = {
  readonly idHash: Buffer;
  readonly intervalS: number;
  readonly slowDownByS: number;
  readonly lifetimeS: number;
};

/** A last poll in the future means that the clock was set back; it does not count against the device. */
const IS_TOO_SOON = `(known.polled_at <= clock_timestamp()
  and known.polled_at + known.interval_s * interval '1 second' > clock_timestamp())`;

/**
 * Records a poll and returns whether it came too soon. If so, the device must wait longer from now on (RFC
 * 8628, section 3.5).
 */
export const notePoll = async (
  database: Queryable,
  { idHash, intervalS, slowDownByS, lifetimeS }: Poll,
): Promise<'in_time' | 'too_soon'> => {
  const { rows } = await database.query<{ too_soon: boolean }>(
    `insert into auth.device_poll as known (id_hash, polled_at, interval_s, expires_at)
     values ($1, clock_timestamp(), $2, now() + $4 * interval '1 second')
     on conflict (id_hash) do update
       set polled_at = clock_timestamp(), too_soon = ${IS_TOO_SOON},
           interval_s = known.interval_s + case when ${IS_TOO_SOON} then $3::integer else 0 end
     returning too_soon`,
    [idHash, intervalS, slowDownByS, lifetimeS],
  );
  return rows[0]?.too_soon === true ? 'too_soon' : 'in_time';
};
