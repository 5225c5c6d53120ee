import type { Domain } from '#kernel/registry/registry.ts';
import { isOfOneShare } from '#kernel/registry/view-of.ts';
import { cursorIdentity, formatCursor, positionInCursor } from '../../views/cursor.ts';
import { type AskedRows, countViewRows, listViewRows, NO_JOINS, rowPositionOf } from '../../views/rows.ts';
import { keyValue, orderOfView, type ViewSource, viewSourcesOf } from '../../views/source.ts';
import { OutOfPlan } from '../planner/out-of-plan.ts';
import { memberName, orderName } from '../rules/names.ts';
import { boundsIn, connectionOf } from './connections.ts';
import type { Resolver } from './context.ts';
import { idsIn, memberOf } from './items.ts';
import { fieldValue } from './reads.ts';
import type { ItemRow } from './rows.ts';

type Resolvers = Readonly<Record<string, Resolver>>;
type ViewArguments = Readonly<Record<string, unknown>>;

/** The fields of a row. */
export const viewResolversOf = (domain: Domain, { view, members }: ViewSource): Resolvers => ({
  ...idsIn(members),
  ...Object.fromEntries(
    members.map((member) => {
      const value = view.values[member.name];
      if (value !== undefined && !isOfOneShare(value))
        return [
          member.name,
          ({ [member.column]: number }: ItemRow) => (number === null ? null : Number(number)),
        ];
      if (member.target === undefined)
        return [member.name, (row: ItemRow) => fieldValue(member.def, row[member.column])];
      return [memberName(member), memberOf(domain, { kind: view.asked }, member)];
    }),
  ),
});

/** The root fields of views. */
export const viewQueries = (domain: Domain): Resolvers =>
  Object.fromEntries(
    viewSourcesOf(domain).flatMap((source) => [
      [source.view.name, oneOf(source)],
      [`${source.view.name}Connection`, pagesOf(source)],
    ]),
  );

export const equalIn = ({ keys, members }: ViewSource, given: ViewArguments): AskedRows['equal'] =>
  Object.fromEntries(
    members.slice(0, keys.length).flatMap((member) => {
      const value = given[memberName(member)] ?? null;
      return value === null ? [] : [[member.column, keyValue(member.def, value)]];
    }),
  );

const ONE = {
  isDescending: false,
  isBackward: false,
  present: undefined,
  after: undefined,
  before: undefined,
  rowsMax: 1,
};

const oneOf =
  (source: ViewSource): Resolver =>
  async (_query: unknown, args: ViewArguments, { pool, caller }) => {
    const asked = { ...ONE, equal: equalIn(source, args), order: source.keys };
    const [row] = await listViewRows(pool, source, caller, { asked, joined: NO_JOINS });
    return row ?? null;
  };

const pagesOf =
  (source: ViewSource): Resolver =>
  (_query: unknown, args: ViewArguments, { pool, caller }) => {
    const { sort, descending } = sortOf(source, args.sort);
    const order = orderOfView(source, sort);
    const identity = cursorIdentity(source, sort);
    const by = source.sorts.get(sort);
    const which = {
      ...{ equal: equalIn(source, (args.filter ?? {}) as ViewArguments), order, isDescending: descending },
      present: by?.isOptional ? by.name : undefined,
    };
    const bounds = boundsIn(args, (cursor) => {
      const position = positionInCursor(identity, String(cursor), order);
      if (position === undefined) throw new OutOfPlan('a cursor of something else');
      return position;
    });
    return connectionOf<ItemRow, readonly string[]>(bounds, {
      read: (asked) =>
        listViewRows(pool, source, caller, { asked: { ...which, ...asked }, joined: NO_JOINS }) as Promise<
          readonly ItemRow[]
        >,
      cursorAt: (row) => formatCursor(identity, rowPositionOf(row, order)),
      count: () => countViewRows(pool, source, caller, which),
    });
  };

const sortOf = (
  { sorts }: ViewSource,
  asked: unknown,
): { readonly sort: string; readonly descending: boolean } => {
  const all = [...sorts.keys()].flatMap((sort) => [false, true].map((descending) => ({ sort, descending })));
  const found = all.find(({ sort, descending }) => orderName({ name: sort }, descending) === asked) ?? all[0];
  if (found === undefined) throw new RangeError('A view has an order');
  return found;
};
