import { isDeepStrictEqual } from 'node:util';
import type { Position, StreamName, UserId, Version } from '#kernel/base/brands.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import { isDeletionRecorded } from '#shared/erasure/deletion.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Codec } from '#shared/events/codec.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { DIRECTORY } from '#shared/persons/directory.ts';
import { createEmailHash } from '#shared/persons/email-hash.ts';
import { createReadPerson } from '#shared/persons/read-person.ts';
import type { DerivedFinding } from '#shared/rest/verification-report.ts';

export type PersonDependencies = {
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'identity' | 'read'>;
  readonly codec: Codec;
  readonly domain: Domain;
  /** Derives the hashes of addresses. */
  readonly masterKey: MasterKey;
};

export const USERS = 'user-';
const TABLE = 'auth.person';

/**
 * Compares role, address and deletion of a person, as the authorization server has them, with the events of
 * the user, up to the checkpoint of the directory. A sign-up writes its person ahead of it.
 */
export const comparePerson = async (
  dependencies: PersonDependencies,
  stream: StreamName,
): Promise<readonly DerivedFinding[]> => {
  const found = await compareOnce(dependencies, stream);
  // A node of a cluster may lag behind the one from which the directory has read.
  return found.length === 0 || isDeepStrictEqual(found, await compareOnce(dependencies, stream)) ? found : [];
};

const compareOnce = async (
  dependencies: PersonDependencies,
  stream: StreamName,
): Promise<readonly DerivedFinding[]> => {
  const key = stream.slice(USERS.length);
  if (!ID.test(key)) return [];
  const seen = await readRow(dependencies, key);
  if (seen === undefined) return [];
  const { reached, row } = seen;
  const written = row?.version ?? 0;
  const expected = await createReadPerson(dependencies)(
    Number(key) as UserId,
    ({ position, version }) => position <= reached || version <= written,
  );
  const about = { table: TABLE, key, stream, version: expected?.version ?? null, position: null };
  if (expected === undefined || row === null) {
    if (expected === undefined && row === null) return [];
    const kind = expected === undefined ? 'derived_extra' : 'derived_missing';
    return [{ kind, ...about, columns: [] }];
  }
  const columns = [
    // The role of a deleted person counts nowhere; 0.1.0 kept one.
    ...(row.role === expected.role || row.status === 'deleted' ? [] : ['role']),
    ...((row.status === 'deleted') === expected.isDeleted ? [] : ['status']),
    ...((await isAddressOf(dependencies, row, expected.email)) ? [] : ['email_hash']),
  ];
  return columns.length === 0 ? [] : [{ kind: 'derived_different', ...about, columns }];
};

/** Another person who got the address later has taken it from this one, maybe before the directory read that. */
const isAddressOf = async (
  { pool, masterKey, eventLog }: PersonDependencies,
  { email_hash: found, user_id: userId }: Row,
  email: string | null,
): Promise<boolean> => {
  const expected = email === null ? null : createEmailHash(masterKey)(email);
  if (found === expected) return true;
  // The key of a person who is being erased is gone before the directory reads the deletion.
  if (found !== null) return expected === null && (await isDeletionRecorded(eventLog, userId));
  const { rowCount } = await pool.query(`select from ${TABLE} where email_hash = $1`, [expected]);
  return rowCount === 1;
};

/** Whatever somebody has put into the log. */
const ID = /^\d{1,15}$/;

type Row = {
  readonly user_id: UserId;
  readonly email_hash: string | null;
  readonly role: string;
  readonly status: string;
  readonly version: Version;
};

/** Of the same moment as the checkpoint; undefined if no directory has followed this log. */
const readRow = async (
  { pool, eventLog: { identity } }: PersonDependencies,
  userId: string,
): Promise<{ readonly reached: Position; readonly row: Row | null } | undefined> => {
  const { rows } = await pool.query<{ reached: Position; row: Row | null }>(
    `select c.position as reached, to_jsonb(p) as row
     from public.follower_checkpoint c left join ${TABLE} p on p.user_id = $3::bigint
     where c.follower = $1 and c.log = $2`,
    [DIRECTORY, identity, userId],
  );
  return rows[0];
};
