import { ARTICLES } from '#shared/read-model/articles.ts';
import type { Table } from '#shared/read-model/change.ts';
import { COMMENTS } from '#shared/read-model/comments.ts';
import { USERS } from '#shared/read-model/users.ts';
import { WEBHOOKS } from '#shared/read-model/webhooks.ts';
import type { Comparison } from './compare.ts';

/**
 * The rows of the projection, held against what the deciders say of the same events. What only the projection keeps, such as when
 * something was created, is left out.
 */
export const foldComparisons = (schema: string): readonly Comparison[] => {
  const departed = `(select user_id from ${schema}.fold_departed)`;
  return [
    usersOf(schema),
    comparisonOf(schema, ARTICLES),
    // What somebody wrote or registered goes with them.
    comparisonOf(schema, COMMENTS, { recorded: { text: `case when author_id not in ${departed} then text end` } }),
    comparisonOf(schema, WEBHOOKS, { where: `owner_id not in ${departed}` }),
    {
      table: 'departed',
      columns: ['user_id'],
      recorded: `select user_id as key, user_id from ${schema}.fold_departed`,
      found: `select user_id as key, user_id from ${schema}.departed`,
    },
    removedOf(schema, departed),
  ];
};

const ONLY_PROJECTED = new Set(['id', 'seal', 'created_at', 'updated_at', 'published_at', 'deleted_at']);

/** The columns of a table that the deciders know of, with their types. */
const columnsOf = ({ columns }: Pick<Table<string>, 'columns'>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(columns).filter(([column]) => !ONLY_PROJECTED.has(column)));

type Form = Pick<Table<string>, 'name' | 'columns'>;
type Otherwise = {
  /** How a column is to be had where it is not just there. */
  readonly recorded?: Readonly<Record<string, string>>;
  readonly found?: Readonly<Record<string, string>>;
  /** Which of the rows that the deciders know are there. */
  readonly where?: string;
};

const comparisonOf = (schema: string, table: Form, { recorded = {}, found = {}, where = 'true' }: Otherwise = {}): Comparison => {
  const { version, ...known } = columnsOf(table);
  const columns = Object.keys({ version, ...known });
  const select = (otherwise: Readonly<Record<string, string>>) =>
    `select id as key, ${columns.map((column) => `${otherwise[column] ?? column} as ${column}`).join(', ')}`;
  const types = Object.entries(known).map(([column, type]) => `${column} ${type}`);
  const expected = `
    (select f.id, f.version, e.* from ${schema}.fold_${table.name} f, json_to_record(f.expected::json) as e (${types.join(', ')})
     where f.expected <> 'null' and ${isShown(schema, table.name)}) expected`;
  return {
    table: table.name,
    columns,
    recorded: `${select(recorded)} from ${expected} where ${where}`,
    found: `${select(found)} from ${schema}.${table.name}`,
  };
};

/** Of an aggregate that is parked no row tells anything. */
const isShown = (schema: string, table: string): string => {
  const kind = table.slice(0, -1);
  return `f.id not in (select substr(stream, ${kind.length + 2})::bigint from ${schema}.parked where stream ~ '^${kind}-[1-9][0-9]{0,15}$')`;
};

/** Which role somebody had who is gone, no decision asks. */
const usersOf = (schema: string): Comparison =>
  comparisonOf(
    schema,
    { ...USERS, columns: { ...USERS.columns, is_deleted: 'boolean' } },
    { found: { role: 'case when deleted_at is null then role end', is_deleted: 'deleted_at is not null' } },
  );

/** What was deleted, and what it belonged to; webhooks also go with their owners. */
const removedOf = (schema: string, departed: string): Comparison => {
  const removed = (table: string, parent: string, isRemoved = `status = 'deleted'`) => `
    select '${table} ' || f.id as key, "${parent}" as parent_id
    from ${schema}.fold_${table} f, json_to_record(f.state::json) as s (status text, "${parent}" bigint)
    where (${isRemoved}) and ${isShown(schema, table)}`;
  return {
    table: 'removed',
    columns: ['parent_id'],
    recorded: [
      removed('articles', 'authorId'),
      removed('comments', 'articleId'),
      removed('webhooks', 'ownerId', `status = 'deleted' or "ownerId" in ${departed}`),
    ].join(' union all '),
    found: `select kind || ' ' || id as key, parent_id from ${schema}.removed`,
  };
};
