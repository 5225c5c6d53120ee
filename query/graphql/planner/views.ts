import { cursorIdentity, positionInCursor } from '../../views/cursor.ts';
import { keyValue, type OrderColumn, orderOfView, type ViewSource } from '../../views/source.ts';
import { memberName, orderName } from '../rules/names.ts';
import { type Arguments, at } from './arguments.ts';
import { opaque } from './cursors.ts';
import { type Pieces, textJson } from './json.ts';
import { idsOf, jsonOf } from './kinds.ts';
import type { Mapping, Order, Row, Which } from './mapping.ts';
import { countMarkOf, markOf } from './marks.ts';
import { type Options, referencesTo } from './matching.ts';
import { OutOfPlan } from './out-of-plan.ts';
import type { Parameter } from './parameter.ts';
import { allOf, Sql, sql } from './sql.ts';

/** Maps the rows of a view to the read model. */
export const mappingOfView = (options: Options, source: ViewSource): Mapping => {
  const { sources, readable, domain } = options;
  const { view, members, right, sorts } = source;
  const references = referencesTo({ sources, readable, domain }, view.asked, members);
  return {
    table: sql`read_model.${Sql.identifier(view.table)}`,
    letter: 'v',
    mark: markOf(options, view.type),
    countMark: countMarkOf(options, view),
    values: {
      ...idsOf(members),
      ...Object.fromEntries(
        members.flatMap((member) =>
          member.target
            ? []
            : [
                [
                  member.name,
                  (row: Row): Pieces => jsonOf(member, sql`${row}.${Sql.identifier(member.column)}`),
                ],
              ],
        ),
      ),
    },
    rows: Object.fromEntries(references),
    isReadable: (row) => readable.rightTo(right, row),
    orders: Object.fromEntries(
      [...sorts.keys()].flatMap((sort) =>
        [false, true].map((descending) => [
          orderName({ name: sort }, descending),
          orderOf(source, sort, descending),
        ]),
      ),
    ),
  };
};

const orderOf = (source: ViewSource, sort: string, descending: boolean): Order => {
  const columns = orderOfView(source, sort);
  const identity = cursorIdentity(source, sort);
  return {
    descending,
    columns: columns.map(({ name, type }) => ({ name, type: type as Parameter['type'] })),
    positionOf(cursor) {
      const position = positionInCursor(identity, String(cursor), columns);
      if (position === undefined) throw new OutOfPlan('a cursor of something else');
      return position;
    },
    cursorJson: (row) =>
      opaque([
        `["${identity}"`,
        ...columns.flatMap(({ name }) => [',', textJson(sql`${row}.${Sql.identifier(name)}::text`)]),
        ']',
      ]),
  };
};

/** The fields of `Query` that read a view. */
export const queriesOfView = (
  { readable }: Options,
  source: ViewSource,
): readonly (readonly [string, Which])[] => {
  const { view, keys, members, right, sorts } = source;
  const parts = members.slice(0, keys.length);
  const isOf = (row: Row, args: Arguments, path: readonly string[]): readonly Sql[] =>
    parts.flatMap((member, index): readonly Sql[] => {
      const name = [...path, memberName(member)];
      if (!args.has(...name)) return [];
      const type = typeOf(keys[index]);
      return [
        sql`${row}.${Sql.identifier(member.column)} = ${args.value(type, (values) => keyValue(member.def, at(values, name)))}`,
      ];
    });
  const one: Which = (row, _query, args) => [allOf([...isOf(row, args, []), readable.rightTo(right, row)])];
  const page: Which = (row, _query, args) => {
    const sorted = [...sorts.values()].find((_, index) =>
      isOrder([...sorts.keys()][index] ?? '', args.choice('sort')),
    );
    const isPresent = sorted?.isOptional ? [sql`${row}.${Sql.identifier(sorted.name)} is not null`] : [];
    return [allOf([...isOf(row, args, ['filter']), ...isPresent, readable.rightTo(right, row)])];
  };
  return [
    [view.name, one],
    [`${view.name}Connection`, page],
  ];
};

const isOrder = (name: string, asked: string | undefined): boolean =>
  [false, true].some((descending) => orderName({ name }, descending) === asked);

const typeOf = (key: OrderColumn | undefined): Parameter['type'] =>
  (key?.type ?? 'text') as Parameter['type'];
