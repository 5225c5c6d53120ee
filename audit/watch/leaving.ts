import type { Difference } from '#shared/audit/watch.ts';
import type { StreamName, UserId } from '#shared/brands.ts';
import { isDeletionRecorded } from '#shared/erasure/deletion.ts';
import { LIVE_SCHEMA } from '#shared/read-model/read-model.ts';
import { fieldOf } from '#shared/read-model/tables.ts';
import { checkRow, type RowDependencies } from './check-rows.ts';

/**
 * Holds the row of a stream against its events, but for a person who is being erased: until the projector has come to their deletion,
 * what is personal may be there or be gone, in the row as well as in what is read of the events, and nobody can tell which is right.
 */
export const checkRowUnlessLeaving = async (dependencies: RowDependencies, stream: StreamName): Promise<readonly Difference[]> => {
  const found = await checkRow(dependencies, stream);
  if (found.length === 0) return found;
  const person = await personOf(dependencies, stream);
  const erased = person !== undefined && (await readErased(dependencies, person));
  if (!erased) return found;
  // The projector came to it after the row was looked at.
  return erased.isDeparted ? checkRow(dependencies, stream) : [];
};

const personOf = async ({ eventLog, tables }: RowDependencies, stream: StreamName): Promise<UserId | undefined> => {
  const row = tables.rowOf(stream);
  const { person } = row === undefined ? {} : ([row.table, ...row.table.items].find((each) => each.person !== null) ?? {});
  if (row === undefined || !person) return undefined;
  if (person === 'id') return row.id as UserId;
  for await (const [first] of eventLog.read(stream)) return first?.data[fieldOf(person)] as UserId | undefined;
  return undefined;
};

/** Nothing where their key is there, or was destroyed without their deletion being recorded. */
const readErased = async ({ pool, eventLog }: RowDependencies, person: UserId): Promise<{ readonly isDeparted: boolean } | undefined> => {
  const { rows } = await pool.query<{ isDeparted: boolean }>(
    `select exists (select from ${LIVE_SCHEMA}.departed where user_id = $1) as "isDeparted"
     from public.person_key where subject = $1 and destroyed_at is not null`,
    [person],
  );
  return rows[0] && (await isDeletionRecorded(eventLog, person)) ? rows[0] : undefined;
};
