import { COMMENTS } from '#shared/read-model/comments.ts';
import { USERS } from '#shared/read-model/users.ts';
import { WEBHOOKS } from '#shared/read-model/webhooks.ts';
import type { Comparison } from './compare.ts';

/** The personal columns of each table, and which of its columns says whose they are. */
const PERSONAL: Readonly<Record<string, { readonly columns: readonly string[]; readonly person: string }>> = {
  users: { columns: USERS.personal, person: 'key' },
  comments: { columns: COMMENTS.personal, person: 'author_id' },
  webhooks: { columns: WEBHOOKS.personal, person: 'owner_id' },
};

export const isPersonal = (table: string, column: string): boolean => PERSONAL[table]?.columns.includes(column) ?? false;

/**
 * Where somebody's key is destroyed and what is compared has not come to their deletion yet, what is personal may be there or be gone
 * by now, on either side, and nobody can tell which is right: it is left out until their deletion has come.
 */
export const readableOf = (schema: string, comparison: Comparison): Comparison => {
  const personal = PERSONAL[comparison.table];
  if (!personal) return comparison;
  const leaving = `select subject from public.person_key where destroyed_at is not null and subject not in (select user_id from ${schema}.departed)`;
  const shown = comparison.columns.map((column) =>
    personal.columns.includes(column) ? `case when ${personal.person} not in (${leaving}) then ${column} end as ${column}` : column,
  );
  const readable = (side: string): string => `select key, ${shown.join(', ')} from (${side}) side`;
  return { ...comparison, recorded: readable(comparison.recorded), found: readable(comparison.found) };
};
