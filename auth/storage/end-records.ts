import type { Queryable, RecordKey } from './statements.ts';

export type EndedGrant = {
  readonly grantId: string;
  readonly accountId: string | null;
  readonly clientId: string | null;
};

export type RecordOwner = 'grant_id' | 'account_id' | 'client_id';

/**
 * Requests load, change and save these, so one that had loaded a record would restore it after a plain
 * delete.
 */
const SAVED_AGAIN = ['Grant', 'Session'];
/** Much longer than any request that had loaded the record before its end. */
const TOMBSTONE_S = 3_600;

const AS_TOMBSTONE = `
  sealed = '', other_hash = null, grant_id = null, account_id = null, client_id = null,
  ended_at = clock_timestamp(), expires_at = least(known.expires_at, now() + $1 * interval '1 second')`;

/** Ends everything stored for the owner; returns the grants among it. */
export const endRecords = async (
  database: Queryable,
  owner: RecordOwner,
  value: string,
): Promise<readonly EndedGrant[]> => {
  const ended = await buryRecords(database, owner, value);
  await deleteRecords(database, owner, value);
  return ended;
};

/**
 * A tombstone has no owner, so none is returned twice. The order prevents a deadlock of two callers that end
 * the same records.
 */
const buryRecords = async (
  database: Queryable,
  owner: RecordOwner,
  value: string,
): Promise<readonly EndedGrant[]> => {
  const { rows } = await database.query<EndedGrant>(
    `with living as (
       select kind, id_hash, grant_id, account_id, client_id from auth.record
       where ${owner} = $2 and kind = any ($3) order by kind, id_hash for update),
     ended as (
       update auth.record as known set ${AS_TOMBSTONE}
       from living where known.kind = living.kind and known.id_hash = living.id_hash
       returning living.kind, living.grant_id, living.account_id, living.client_id)
     select grant_id as "grantId", account_id as "accountId", client_id as "clientId" from ended where kind = 'Grant'`,
    [TOMBSTONE_S, value, SAVED_AGAIN],
  );
  return rows;
};

const deleteRecords = async (database: Queryable, owner: RecordOwner, value: string): Promise<void> => {
  await database.query(`delete from auth.record where ${owner} = $1`, [value]);
};

/** Ends one record so that it cannot be saved again. */
export const buryRecord = async (database: Queryable, { kind, idHash }: RecordKey): Promise<void> => {
  await database.query(
    `update auth.record as known set ${AS_TOMBSTONE} where kind = $2 and id_hash = $3 and ended_at is null`,
    [TOMBSTONE_S, kind, idHash],
  );
};

/** Deletes a client's opaque tokens: they are looked up here, so the revocation list does not end them. */
export const deleteAccessTokensOfClient = async (database: Queryable, clientId: string): Promise<void> => {
  await database.query(
    `delete from auth.record where client_id = $1 and kind in ('AccessToken', 'ClientCredentials')`,
    [clientId],
  );
};
