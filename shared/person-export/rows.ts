import type { UserId } from '#kernel/base/brands.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { column, spaced } from '#kernel/base/names.ts';
import { isUser, leadsToUser } from '#kernel/base/users.ts';
import type { Defs, Kind } from '#kernel/registry/registry.ts';
import { rowsOf } from '#shared/database/cursor.ts';
import { isUndefinedTable } from '#shared/database/failures.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import { fieldOf, type ProjectedItems, type ProjectedTable, tablesOf } from '#shared/read-model/tables.ts';
import type { PersonExportDependencies, Section } from './section.ts';

/** Rows of a table of the read model: those of the person, and those of others that name the person. */
type Naming = {
  readonly table: string;
  /** Is true of a row `t` that belongs to the person with the number `$1`; undefined if none can. */
  readonly own: string | undefined;
  /** The columns that name users. */
  readonly users: readonly string[];
  /** The columns that the owner of the row gets. */
  readonly columns: readonly string[];
  /** The columns that identify a row. */
  readonly key: readonly string[];
};

/** Those of a domain, derived from its declaration; each may have rows of the person, and rows that name them. */
export const rowSections = (
  { domain, pool }: Pick<PersonExportDependencies, 'domain' | 'pool'>,
  userId: UserId,
): readonly Section[] =>
  tablesOf(domain).all.flatMap((table) =>
    [namingOf(table), ...table.items.map((items) => namingOfItems(table, items))].flatMap((naming) =>
      sectionsOfTable(pool, naming, userId),
    ),
  );

/** The names of the sections that show rows of a table of the read model. */
export const sectionNamesOf = (table: string): readonly string[] => [table, `${table}-naming`];

const sectionsOfTable = (pool: Pool, naming: Naming, userId: UserId): readonly Section[] => {
  const [own, named] = sectionNamesOf(naming.table) as [string, string];
  const title = spaced(naming.table);
  return [
    ...(naming.own === undefined
      ? []
      : [
          {
            name: own,
            title,
            says: `The rows of ${title} that belong to the person, as they are now.`,
            records: read(pool, ownText(naming), userId),
          },
        ]),
    ...(naming.users.length === 0 || isOwnAlone(naming)
      ? []
      : [
          {
            name: named,
            title: `${title} of others that name the person`,
            says: 'Their numbers, and the fields that name the person: the rest is data of others.',
            records: namedRows(pool, naming, userId),
          },
        ]),
  ];
};

/** Whether the only column that names users is that of the owner. */
const isOwnAlone = ({ own, users }: Naming): boolean => users.length === 1 && own === `t.${users[0]} = $1`;

const ownText = ({ table, own, columns }: Naming): string =>
  `select ${columns.map((each) => `t.${each} as "${fieldOf(each)}"`).join(', ')} from ${LIVE_SCHEMA}.${table} t where ${own}`;

async function* read(pool: Pool, text: string, userId: UserId): AsyncGenerator<JsonObject> {
  try {
    yield* rowsOf<JsonObject>(pool, text, [userId]);
  } catch (error) {
    // No projector has made the read model yet.
    if (!isUndefinedTable(error)) throw error;
  }
}

async function* namedRows(pool: Pool, naming: Naming, userId: UserId): AsyncGenerator<JsonObject> {
  const { table, own, users, key } = naming;
  const columns = [...new Set([...key, ...users])].map((each) => `t.${each}`).join(', ');
  const isNamed = `(${users.map((each) => `t.${each} = $1`).join(' or ')})`;
  const text = `select ${columns} from ${LIVE_SCHEMA}.${table} t where ${isNamed}${own === undefined ? '' : ` and (${own}) is not true`}`;
  for await (const row of read(pool, text, userId))
    yield {
      ...Object.fromEntries(key.map((each) => [fieldOf(each), row[each] ?? null])),
      namedAs: users.filter((each) => row[each] === userId).map(fieldOf),
    };
}

const namingOf = ({ name, aggregate, columns, person }: ProjectedTable): Naming => {
  const owner = person ?? ownerOf(aggregate);
  return {
    table: name,
    own: owner === undefined ? undefined : `t.${owner} = $1`,
    users: usersIn(aggregate.fields),
    columns: shownIn(Object.keys(columns)),
    key: ['id'],
  };
};

const namingOfItems = (
  { aggregate, name: of, person: personOfAggregate }: ProjectedTable,
  { name, columns, person, key, list }: ProjectedItems,
): Naming => {
  const owner = personOfAggregate ?? ownerOf(aggregate);
  const inOwn =
    owner === undefined
      ? undefined
      : `exists (select from ${LIVE_SCHEMA}.${of} a where a.id = t.${key[0]} and a.${owner} = $1)`;
  return {
    table: name,
    own: person === null ? inOwn : `t.${person} = $1`,
    users: usersIn(list.fields),
    columns: shownIn(Object.keys(columns)),
    key,
  };
};

/** The user who owns its aggregates, if their personal data names nobody. */
const ownerOf = (kind: Kind): string | undefined => {
  if (isUser(kind)) return 'id';
  const name = [kind.owner, kind.parent].find((each) => {
    const def = each === undefined ? undefined : kind.fields[each];
    return def !== undefined && leadsToUser(def);
  });
  return name === undefined ? undefined : column(name, kind.fields[name]);
};

const usersIn = (fields: Defs): readonly string[] =>
  Object.entries(fields).flatMap(([name, def]) => (leadsToUser(def) ? [column(name, def)] : []));

/** Without the hash of what is personal. Secrets have no columns. */
const shownIn = (columns: readonly string[]): readonly string[] => columns.filter((each) => each !== 'seal');
