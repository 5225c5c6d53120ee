import { snake, sqlName } from '#kernel/base/names.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import { type AskedList, askedColumn, askedItemsSql } from '#kernel/conditions/lists.ts';
import type { Kind, ListInfo } from '#kernel/registry/registry.ts';
import { staysWhenEnded } from '#kernel/registry/stays-when-ended.ts';
import { itemTableOf } from '#kernel/rows/items.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import type { Needs } from '../rows/needs.ts';
import type { Member, Source } from '../rows/source.ts';

/** The columns read of a reference’s target. */
export type Joined = {
  readonly path: readonly string[];
  /** The column of the reference in the row before. */
  readonly column: string;
  readonly kind: Kind;
  readonly columns: readonly string[];
  /** Includes the columns of items that conditions ask about. */
  readonly lists: readonly AskedList[];
};

/** The SQL of a row with its references, compiled once. */
export type Selection = { readonly columns: string; readonly joins: string };

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

export const ownColumns = (
  { kind, staysWhenEnded }: Source,
  members: readonly Member[],
  lists: readonly AskedList[],
): readonly string[] => [
  ...[
    ...['id', 'version', 'created_at', 'updated_at'],
    ...members.map(({ column }) => column),
    ...(staysWhenEnded ? [ENDED_COLUMN] : []),
  ].map((column) => `t.${column}`),
  ...lists.map((list) => `${askedOf(list, kind, 't')} as "${askedColumn(list)}"`),
];

const wholeColumns = (source: Source): readonly string[] => [
  ...ownColumns(
    source,
    source.members,
    source.needs.lists.map(({ asked }) => asked),
  ),
  ...roomsIn(source.kind),
];

/** The columns of targets that are joined to a row, and the joins. */
export const joinsTo = (
  row: string,
  joined: readonly Joined[],
  isInner: (each: Joined) => boolean = () => false,
): { readonly columns: readonly string[]; readonly joins: string } => {
  const aliases = new Map(joined.map(({ path }, index) => [path.join('.'), `r${index}`]));
  const aliasOf = (path: readonly string[]): string => aliases.get(path.join('.')) ?? row;
  const joins = joined.map((each) => {
    const alias = aliasOf(each.path);
    const on = `${alias}.id = ${aliasOf(each.path.slice(0, -1))}.${each.column}`;
    return ` ${isInner(each) ? 'join' : 'left join'} ${LIVE_SCHEMA}.${each.kind.table} ${alias} on ${on}`;
  });
  return {
    columns: joined.flatMap(({ path, kind, columns, lists }) => [
      ...columns.map((column) => `${aliasOf(path)}.${column} as "${joinedAs(path, column)}"`),
      ...lists.map(
        (list) => `${askedOf(list, kind, aliasOf(path))} as "${joinedAs(path, askedColumn(list))}"`,
      ),
    ]),
    joins: joins.join(''),
  };
};

export const selectionOf = (
  own: readonly string[],
  joined: readonly Joined[],
  isInner?: (each: Joined) => boolean,
): Selection => {
  const { columns, joins } = joinsTo('t', joined, isInner);
  return { columns: [...own, ...columns].join(', '), joins };
};

/** For one row by id, by outer joins: the row is found even if a target is missing. */
export const selectionOfItem = (source: Source): Selection =>
  selectionOf(wholeColumns(source), joinedOf(source));

/** For a list: rows of a parked owner are omitted, and the parent is known already. */
export const selectionOfList = oncePer((source: Source): Selection => {
  const joined = joinedOf(source).filter(({ path }) => path[0] !== source.parent?.name);
  return selectionOf(
    wholeColumns(source),
    joined,
    ({ path }) => path.length === 1 && path[0] === source.owner?.name,
  );
});

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
export const joinedOf = (source: Source): readonly Joined[] => {
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

export const behind = ({ behind: references }: Needs, at: readonly string[]): readonly Joined[] =>
  references.flatMap(({ reference, column, kind, needs }) => {
    const path = [...at, reference];
    const [columns, lists] = [
      needs.fields.map((field) => field.column),
      needs.lists.map(({ asked }) => asked),
    ];
    return [{ path, column, kind, columns, lists }, ...behind(needs, path)];
  });
