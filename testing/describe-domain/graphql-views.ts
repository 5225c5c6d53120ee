import type { Domain, Row } from '#kernel/registry/registry.ts';
import { memberName, orderName } from '../../query/graphql/rules/names.ts';
import { orderOfView, type ViewSource, viewSourcesOf } from '../../query/views/source.ts';
import { type Asking, mayAs } from './declared.ts';
import {
  type Args,
  compareBy,
  idsOf,
  memberValue,
  pageOf,
  type Reference,
  type Resolve,
  type Resolvers,
} from './graphql-nodes.ts';

/** The views of a domain: one row by its key, and pages of the rows that somebody may read. */
export const resolversOfViews = (domain: Domain): Resolvers =>
  new Map(viewSourcesOf(domain).flatMap((source) => [...queriesOf(source), ...fieldsOf(domain, source)]));

const fieldsOf = (domain: Domain, { view, members }: ViewSource): readonly (readonly [string, Resolve])[] => [
  ...members.map((member) => [`${view.type}.${memberName(member)}`, memberValue(domain, member)] as const),
  ...idsOf(view.type, members).map(([, name, id]) => [name, id] as const),
];

const queriesOf = (source: ViewSource): readonly (readonly [string, Resolve])[] => {
  const { view } = source;
  const nodes = (rows: readonly Row[]) => rows.map((row) => ({ type: view.type, source, row }));
  const one: Resolve = (_, args, reference) => nodes(readable(source, args, reference))[0] ?? null;
  const page: Resolve = (_, args, reference) => {
    const rows = readable(source, (args.filter ?? {}) as Args, reference);
    const [name] = [...source.sorts.keys()]
      .filter((sort) => isOrder(sort, args.sort))
      .concat(...source.sorts.keys());
    if (name === undefined) throw new RangeError(`${view.name} has no order`);
    const isDescending = args.sort === orderName({ name }, true);
    return pageOf(nodes(inOrder(source, rows, { sort: name, isDescending })), args);
  };
  return [
    [`Query.${view.name}`, one],
    [`Query.${view.name}Connection`, page],
  ];
};

type Order = { readonly sort: string; readonly isDescending: boolean };

/** The rows that have a value to sort by. */
export const inOrder = (
  source: ViewSource,
  rows: readonly Row[],
  { sort, isDescending }: Order,
): readonly Row[] => {
  const by = source.sorts.get(sort);
  const columns = orderOfView(source, sort).map(({ name }) => name);
  return rows
    .filter((row) => !by?.isOptional || row[by.name] !== null)
    .toSorted((first, second) => compareBy(columns, first, second) * (isDescending ? -1 : 1));
};

const isOrder = (name: string, asked: unknown): boolean =>
  [false, true].some((descending) => orderName({ name }, descending) === asked);

/** The rows of a key, or of a part of a key. */
const readable = (
  { view, keys, members, table }: ViewSource,
  args: Args,
  { asking, rows }: Reference,
): readonly Row[] =>
  rows.ofTable(table).filter((row) => {
    const parts = members.slice(0, keys.length);
    const isAsked = parts.every((part) => {
      const given = args[memberName(part)];
      return given == null || String(row[part.column]) === String(given);
    });
    return isAsked && mayReadRow(asking, { view, keys, members }, row);
  });

/** By the key of the row alone. */
export const mayReadRow = (
  asking: Asking,
  { view, keys, members }: Pick<ViewSource, 'view' | 'keys' | 'members'>,
  row: Row,
): boolean => {
  const key = members.slice(0, keys.length).map(({ name, column }) => [name, row[column]]);
  return mayAs(asking, view.asked, 'read', Object.fromEntries(key));
};
