import type { UserId } from '#kernel/base/brands.ts';
import type { Connection } from '#shared/database/pool.ts';
import { isDeletionRecorded } from '#shared/erasure/deletion.ts';
import { openErasureList } from '#shared/erasure/erasure-list.ts';
import type { Tables } from '#shared/read-model/tables.ts';
import { type Comparison, ROW_KEY } from './compare.ts';
import type { Proving } from './proving.ts';

export const isPersonal = (tables: Tables, table: string, column: string): boolean =>
  tables.named(table)?.personal.includes(column) ?? false;

/**
 * Users whose key is destroyed before the compared position reaches their deletion. Someone who destroys a
 * key by hand, to prevent a comparison, has neither a deletion nor an entry in the erasure list: that is
 * reported.
 */
export const readLeaving = async (
  connection: Connection,
  {
    verification: { eventLog, auditDir },
    schema,
    findings,
  }: Pick<Proving, 'verification' | 'schema' | 'findings'>,
): Promise<readonly UserId[]> => {
  const { rows } = await connection.query<{ subject: UserId; destroyedAt: Date }>(
    `select subject, destroyed_at as "destroyedAt" from public.person_key
     where destroyed_at is not null and subject not in (select user_id from ${schema}.departed) order by subject`,
  );
  const listed = new Set((await openErasureList(auditDir).read()).map(({ userId }) => userId));
  const leaving: UserId[] = [];
  for (const { subject, destroyedAt } of rows) {
    if (listed.has(subject) || (await isDeletionRecorded(eventLog, subject))) leaving.push(subject);
    else
      findings.add({
        kind: 'key_destroyed_without_deletion',
        userId: subject,
        destroyedAt: destroyedAt.toISOString(),
      });
  }
  return leaving;
};

/** Personal data of users who are being erased may or may not remain on either side, so it is excluded. */
export const readableOf = (
  tables: Tables,
  comparison: Comparison,
  leaving: readonly UserId[],
): Comparison => {
  const table = tables.named(comparison.table);
  if (!table?.person || leaving.length === 0) return comparison;
  const person = table.person === 'id' ? ROW_KEY : table.person;
  const shown = comparison.columns.map((column) =>
    table.personal.includes(column)
      ? `case when ${person} not in (select unnest('{${leaving.join()}}'::bigint[])) then ${column} end as ${column}`
      : column,
  );
  const readable = (side: string): string => `select ${ROW_KEY}, ${shown.join(', ')} from (${side}) side`;
  return { ...comparison, recorded: readable(comparison.recorded), found: readable(comparison.found) };
};
