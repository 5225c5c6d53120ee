// Over 200 lines, because it is one thing: the columns that a read selects, and the resource that is read
// from them.

import { snake, sqlName } from '#kernel/base/names.ts';
import type { State } from '#kernel/conditions/holds.ts';
import { type AskedList, askedColumn, askedItemsSql } from '#kernel/conditions/lists.ts';
import type { Kind, ListInfo } from '#kernel/registry/registry.ts';
import { staysWhenEnded } from '#kernel/registry/stays-when-ended.ts';
import { itemTableOf } from '#kernel/rows/items.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import type { Resource } from '#shared/policy.ts';
import { fieldsIn, type Member, type Needs, type Row, type Source } from '../rows/sources.ts';

/**
 * A row of a kind with the columns read of its references’ targets, named after the reference: `author.name`,
 * `article.status`. `author.id` is null if the target is missing: parked or about to be deleted.
 */
export type ItemRow = Row & {
  readonly id: number;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
};

/** The columns read of a reference’s target. */
type Joined = {
  readonly path: readonly string[];
  /** The column of the reference in the row before. */
  readonly column: string;
  readonly kind: Kind;
  readonly columns: readonly string[];
  /** Includes the columns of items that conditions ask about. */
  readonly lists: readonly AskedList[];
};

/** The SQL of a row with its references, compiled once. */
type Selection = { readonly columns: string; readonly joins: string };

/** The first letter of the joined table, as `u` for users; with a number if it is taken. */
const aliasesOf = (joined: readonly Joined[]): ReadonlyMap<string, string> => {
  const aliases = new Map<string, string>();
  const taken = new Set(['t']);
  for (const [index, { path, kind }] of joined.entries()) {
    const letter = kind.name.charAt(0);
    const alias = taken.has(letter) ? `${letter}${index}` : letter;
    taken.add(alias);
    aliases.set(path.join('.'), alias);
  }
  return aliases;
};

/** The name of a target’s column in a row. */
export const joinedAs = (path: readonly string[], column: string): string =>
  sqlName([...path, column].join('.'));

/** The column that shows whether a list has room for another item. */
export const roomOf = ({ name }: ListInfo): string => sqlName(`${name}.room`);

const roomsIn = (kind: Kind): readonly string[] =>
  Object.values(kind.lists)
    .filter((list) =>
      Object.values(kind.commands).some((command) => command.list === list && command.kind === 'addItem'),
    )
    .map((list) => {
      const { name, key } = itemTableOf(kind, list);
      return `(select count(*) from read_model.${name} i where i.${key[0]} = t.id) < ${list.max} as "${roomOf(list)}"`;
    });

const askedOf = (list: AskedList, kind: Kind, row: string): string =>
  askedItemsSql(list, kind, { row, schema: LIVE_SCHEMA });

const selectionOf = (
  { kind, members, staysWhenEnded, needs }: Source,
  joined: readonly Joined[],
  isInner: (each: Joined) => boolean,
): Selection => {
  const own = [
    'id',
    'version',
    'created_at',
    'updated_at',
    ...members.map(({ column }) => column),
    ...(staysWhenEnded ? ['deleted_at'] : []),
  ];
  const aliases = aliasesOf(joined);
  const aliasOf = (path: readonly string[]): string => aliases.get(path.join('.')) ?? 't';
  const others = joined.flatMap(({ path, kind: of, columns, lists }) => [
    ...columns.map((column) => `${aliasOf(path)}.${column} as "${joinedAs(path, column)}"`),
    ...lists.map((list) => `${askedOf(list, of, aliasOf(path))} as "${joinedAs(path, askedColumn(list))}"`),
  ]);
  const asked = needs.lists.map((list) => `${askedOf(list.asked, kind, 't')} as "${list.column}"`);
  const joins = joined.map((each) => {
    const alias = aliasOf(each.path);
    const on = `${alias}.id = ${aliasOf(each.path.slice(0, -1))}.${each.column}`;
    return ` ${isInner(each) ? 'join' : 'left join'} read_model.${each.kind.table} ${alias} on ${on}`;
  });
  return {
    columns: [...own.map((column) => `t.${column}`), ...asked, ...roomsIn(kind), ...others].join(', '),
    joins: joins.join(''),
  };
};

/** For one row by id, by outer joins: the row is found even if a target is missing. */
export const selectionOfItem = (source: Source): Selection =>
  selectionOf(source, joinedOf(source), () => false);

/** For a list: rows of a parked owner are omitted, and the parent is known already. */
export const selectionOfList = (source: Source): Selection => {
  const joined = joinedOf(source).filter(({ path }) => path[0] !== source.parent?.name);
  return selectionOf(source, joined, ({ path }) => path.length === 1 && path[0] === source.owner?.name);
};

/** Has a value in the row of a deleted user, which stays. */
export const ENDED_COLUMN = 'deleted_at';

/**
 * A deleted user is shown as a name only if everybody who reads the reference may read all users. Otherwise it
 * looks like a user whom the caller may not read.
 */
export const hidesEnded = ({ target, showsEnded }: Member): boolean =>
  target !== undefined && staysWhenEnded(target) && !showsEnded;

/** The field of a target that representations show beside its id. */
export const labelOf = ({ target }: Pick<Member, 'target'>): string | undefined => target?.label;

/** The owner first, because every list joins it. */
const joinedOf = (source: Source): readonly Joined[] => {
  const { members, needs, owner, targets } = source;
  const labelled = members.flatMap((member): readonly Joined[] => {
    const { name, column, target } = member;
    if (!target || name === source.parent?.name || (target.label === undefined && name !== owner?.name))
      return [];
    return [
      {
        path: [name],
        column,
        kind: target,
        columns: [
          'id',
          ...(target.label === undefined ? [] : [snake(target.label)]),
          ...(targets.get(name)?.fields ?? []).map((field) => field.column),
          ...(hidesEnded(member) ? [ENDED_COLUMN] : []),
        ],
        lists: (targets.get(name)?.lists ?? []).map(({ asked }) => asked),
      },
    ];
  });
  const rightsToTargets = [...targets].flatMap(([name, needed]) => behind(needed, [name]));
  const needed = behind(needs, []);
  const all = [
    ...labelled.toSorted((one) => (one.path[0] === owner?.name ? -1 : 1)),
    ...needed,
    ...rightsToTargets,
  ];
  const byPath = Map.groupBy(all, ({ path }) => path.join('.'));
  return [...byPath.values()].flatMap(([first, ...others]) =>
    first
      ? [
          {
            ...first,
            columns: [...new Set([first, ...others].flatMap(({ columns }) => columns))],
            lists: [...new Set([first, ...others].flatMap(({ lists }) => lists))],
          },
        ]
      : [],
  );
};

const behind = ({ behind: references }: Needs, at: readonly string[]): readonly Joined[] =>
  references.flatMap(({ reference, column, kind, needs }) => {
    const path = [...at, reference];
    const [columns, lists] = [
      needs.fields.map((field) => field.column),
      needs.lists.map(({ asked }) => asked),
    ];
    return [{ path, column, kind, columns, lists }, ...behind(needs, path)];
  });

/** The facts that rights to a row depend on. */
export const resourceIn = ({ needs }: Source, row: Row): Resource => {
  const fields = fieldsIn(needs, row);
  return needs.behind.length === 0
    ? { fields }
    : { fields, find: (kind, id) => findIn(needs, row, { kind, id, prefix: '' }) };
};

type Wanted = { readonly kind: string; readonly id: unknown; readonly prefix: string };

export const findIn = (needs: Needs, row: Row, wanted: Wanted): State | undefined => {
  const found = allIn(needs, row, wanted);
  return found.length === 0 ? undefined : Object.assign({}, ...found);
};

/** Several references may have the same target, and each has only the columns needed through itself. */
const allIn = ({ behind: references }: Needs, row: Row, { kind, id, prefix }: Wanted): readonly State[] =>
  references.flatMap(({ reference, kind: target, needs }) => {
    const there = `${prefix}${reference}.`;
    const found = row[sqlName(`${there}id`)];
    if (typeof found !== 'number') return [];
    const own = target.name === kind && found === id ? [fieldsIn(needs, row, 'joined')] : [];
    return [...own, ...allIn(needs, row, { kind, id, prefix: there })];
  });

/** The parent in the columns of a row, as facts of its own. */
export const parentIn = ({ parent, needs }: Source, row: Row): Resource => {
  const above = needs.behind.find(({ reference }) => reference === parent?.name);
  if (!above) return {};
  const { needs: behindIt, reference } = above;
  return {
    fields: fieldsIn(behindIt, row, 'joined'),
    find: (kind, id) => findIn(behindIt, row, { kind, id, prefix: `${reference}.` }),
  };
};

/** The columns that a child row has of this row and its references. */
export const asParent = (child: Source, parent: Row): Row => {
  const above = child.needs.behind.find(({ reference }) => reference === child.parent?.name);
  const prefix = `${above?.reference}.`;
  return Object.fromEntries(
    (above ? joinedIn(above.needs) : []).map((joined) => [
      sqlName(joined),
      parent[sqlName(joined.slice(prefix.length))],
    ]),
  );
};

const joinedIn = ({ fields, lists, behind: references }: Needs): readonly string[] => [
  ...[...fields, ...lists].map(({ joined }) => joined),
  ...references.flatMap(({ needs }) => joinedIn(needs)),
];

type FindRow = (kind: Kind, id: number) => Promise<Row | undefined>;

/** A row with its references, each found by itself; undefined if the parent is missing. */
export const withReferences = async (source: Source, row: Row, find: FindRow): Promise<ItemRow | undefined> =>
  (await join(source, joinedOf(source), { row, find })) as ItemRow | undefined;

/** The facts that rights to a row depend on, each found by itself; undefined if the parent is missing. */
export const resourceOf = async (source: Source, row: Row, find: FindRow): Promise<Resource | undefined> => {
  const whole = await join(source, behind(source.needs, []), { row, find });
  return whole && resourceIn(source, whole);
};

type Joining = { readonly row: Row; readonly find: FindRow };

const join = async (
  source: Source,
  joined: readonly Joined[],
  { row, find }: Joining,
): Promise<Row | undefined> => {
  const whole: Record<string, unknown> = { ...row };
  for (const { path, column, kind, columns, lists } of joined) {
    const id = whole[joinedAs(path.slice(0, -1), column)];
    const other = typeof id === 'number' ? await find(kind, id) : undefined;
    if (!other && path.length === 1 && path[0] === source.parent?.name) return undefined;
    for (const each of [...columns, ...lists.map(askedColumn)])
      whole[joinedAs(path, each)] = other?.[each] ?? null;
  }
  return whole;
};
