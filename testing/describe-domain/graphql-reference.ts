// Over 200 lines, because it is one oracle: an independent computation of the expected results of queries.

import { type ExecutionResult, execute, GraphQLError, type GraphQLFieldResolver, parse } from 'graphql';
import { itemType } from '#kernel/base/names.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import { isUser } from '#kernel/base/users.ts';
import type { Domain, Row } from '#kernel/registry/registry.ts';
import { listsOf, memberName, orderName } from '../../query/graphql/rules/names.ts';
import type { ItemSource, Sort, Source } from '../../query/rows/source.ts';
import { sourcesOf } from '../../query/rows/sources.ts';
import { isHidden, mayEver, mayEverReadPart, mayReadPart, partsOf } from './declared.ts';
import { detailsIn } from './graphql-files.ts';
import {
  type Args,
  compareBy,
  idsOf,
  isReadable,
  memberValue,
  type Node,
  nodeOf,
  pageOf,
  type Reference,
  type Resolve,
  type Resolvers,
  sizeOf,
} from './graphql-nodes.ts';
import { resolversOfViews } from './graphql-views.ts';

export const executeReference = async (
  reference: Reference,
  text: string,
  variables: Record<string, unknown>,
): Promise<ExecutionResult> => {
  const resolvers = resolversOf(reference.domain);
  const fieldResolver: GraphQLFieldResolver<unknown, Reference> = (
    source,
    args,
    context,
    { parentType, fieldName },
  ) => {
    const own = resolvers.get(`${parentType.name}.${fieldName}`);
    return own ? own(source as Node, args, context) : (source as Record<string, unknown>)[fieldName];
  };
  return execute({
    schema: reference.schema,
    document: parse(text),
    variableValues: variables,
    contextValue: reference,
    fieldResolver,
    typeResolver: (value) => (value as Node).type,
  });
};

const resolversOf = oncePer((domain: Domain): Resolvers => {
  const { all } = sourcesOf(domain);
  const resolvers = new Map<string, Resolve>(resolversOfViews(domain));
  resolvers.set('Query.node', (_, { id }, reference) =>
    first(all.map((source) => byId(source, id, reference))),
  );
  resolvers.set('Query.me', (_, __, { asking, rows }) => {
    const users = all.find(({ kind }) => isUser(kind));
    return users
      ? first(
          rows
            .of(users)
            .filter(({ id }) => id === asking.callerId)
            .map((row) => nodeOf(users, row)),
        )
      : null;
  });
  for (const source of all) {
    const { kind, parent } = source;
    resolvers.set(`Query.${kind.field}`, (_, { id }, reference) => byId(source, id, reference) ?? null);
    if (parent === undefined)
      addLists(resolvers, 'Query', { source, of: (_, reference) => reference.rows.of(source) });
    addFields(domain, resolvers, source);
    for (const child of source.children) {
      const under = sourcesOf(domain).of(child.kind.name);
      if (under)
        addLists(resolvers, kind.type, {
          source: under,
          of: ({ row }, { rows }) => rows.of(under).filter((each) => each[child.column] === row.id),
        });
    }
    for (const items of source.items) addItems(domain, resolvers, source, items);
  }
  return resolvers;
});

const first = <Item>(items: readonly (Item | undefined)[]): Item | null =>
  items.find((item) => item !== undefined) ?? null;

const isPartOf = (source: Source, row: Row, part: string, { asking, rows }: Reference): boolean =>
  mayReadPart(asking, source.kind, part, rows.stateOf(source, row));

const byId = (source: Source, id: unknown, reference: Reference): Node | undefined => {
  const row = reference.rows.of(source).find((each) => String(each.id) === id);
  return row && isReadable(source, row, reference) ? nodeOf(source, row) : undefined;
};

const addFields = (domain: Domain, resolvers: Map<string, Resolve>, source: Source): void => {
  const { type } = source.kind;
  const parts = partsOf(source.kind);
  const guarded = (name: string, read: Resolve): Resolve => {
    // Only of users, a reader sees that hidden parts were changed.
    const isOfAll = !isUser(source.kind) && (name === 'version' || name === 'updatedAt');
    const needed = parts.filter(({ reads }) => isOfAll || reads.includes(name));
    if (needed.length === 0) return read;
    return (node, args, reference) => {
      const isThere = reference.rows.of(source).some(({ id }) => id === node.row.id);
      return isThere && needed.every((part) => isPartOf(source, node.row, part.name, reference))
        ? read(node, args, reference)
        : null;
    };
  };
  resolvers.set(`${type}.id`, ({ row }) => String(row.id));
  resolvers.set(
    `${type}.version`,
    guarded('version', ({ row }) => row.version),
  );
  resolvers.set(`${type}.asOf`, () => null);
  resolvers.set(
    `${type}.createdAt`,
    guarded('createdAt', ({ row }) => row.created_at),
  );
  resolvers.set(
    `${type}.updatedAt`,
    guarded('updatedAt', ({ row }) => row.updated_at),
  );
  for (const member of source.members)
    resolvers.set(`${type}.${memberName(member)}`, guarded(member.name, memberValue(domain, member)));
  for (const [{ name }, field, id] of idsOf(type, source.members)) resolvers.set(field, guarded(name, id));
  for (const [field, resolve] of detailsIn(type, source.members)) resolvers.set(field, resolve);
};

const addItems = (
  domain: Domain,
  resolvers: Map<string, Resolve>,
  source: Source,
  items: ItemSource,
): void => {
  const { kind, list, members } = items;
  const type = itemType(kind, list);
  if (list.key === undefined)
    resolvers.set(`${type}.${list.id.name}`, ({ row }) => String(row[list.id.column]));
  for (const member of members) resolvers.set(`${type}.${memberName(member)}`, memberValue(domain, member));
  for (const [, field, id] of idsOf(type, members)) resolvers.set(field, id);
  for (const [field, resolve] of detailsIn(type, members)) resolvers.set(field, resolve);
  resolvers.set(`${type}.createdAt`, ({ row }) => row.created_at);
  resolvers.set(`${type}.updatedAt`, ({ row }) => row.updated_at);
  resolvers.set(`${type}.${kind.field}`, ({ row }, _, { rows }) =>
    nodeOf(source, rows.byId(source, row[items.of]) as Row),
  );
  const part = partsOf(kind).find(({ reads, items: some }) => reads.includes(list.name) || list.name in some);
  const isSeen = (item: Row, row: Row, reference: Reference): boolean => {
    if (part === undefined || isPartOf(source, row, part.name, reference)) return true;
    const state = Object.fromEntries(members.map(({ name, column }) => [name, item[column]]));
    return !part.reads.includes(list.name) && !isHidden(part.items[list.name] ?? {}, state);
  };
  const all: Resolve = ({ row }, args, reference) =>
    reference.rows
      .items(items, row)
      .filter((item) => isSeen(item, row, reference) && isKept(items, item, args.filter))
      .filter((item) => isSortedBy(sortOfItems(items, args.sort), item))
      .toSorted((one, other) => {
        const { columns, isDescending } = sortOfItems(items, args.sort);
        return compareBy(columns, one, other) * (isDescending ? -1 : 1);
      })
      .map((each) => ({ type, source: items, row: each }));
  resolvers.set(`${kind.type}.${list.name}`, (node, args, reference) =>
    (all(node, args, reference) as readonly Node[]).slice(0, sizeOf(args.limit)),
  );
  resolvers.set(`${kind.type}.${list.name}Connection`, (node, args, reference) =>
    pageOf(all(node, args, reference) as readonly Node[], args),
  );
};

type SortingItems = { readonly columns: readonly string[]; readonly isDescending: boolean };
const sortOfItems = ({ sorts, order }: ItemSource, asked: unknown): SortingItems => {
  for (const sort of sorts)
    for (const isDescending of [false, true])
      if (orderName(sort, isDescending) === asked)
        return { columns: [sort.column, order.at(-1)?.name ?? ''], isDescending };
  return { columns: order.map(({ name }) => name), isDescending: false };
};

const isSortedBy = ({ columns: [first = ''] }: SortingItems, item: Row): boolean => item[first] !== null;

type Listed = { readonly source: Source; readonly of: (node: Node, reference: Reference) => readonly Row[] };
const addLists = (resolvers: Map<string, Resolve>, type: string, { source, of }: Listed): void => {
  const sorted: Resolve = (node, args, reference) => {
    const sort = sortOf(source, args.sort);
    // The order of creation needs no right.
    const asked = [
      sort.name === 'createdAt' ? undefined : sort.name,
      ...source.filters.flatMap(({ name, by, column }) =>
        isGiven(args.filter, name) ? [nameOf(source, by, column)] : [],
      ),
    ];
    const parts = partsOf(source.kind).filter(({ reads }) =>
      asked.some((name) => name !== undefined && reads.includes(name)),
    );
    const { domain, role } = reference.asking;
    const mayEverLook = ({ name }: { readonly name: string }): boolean =>
      mayEver(domain, source.kind, 'read', role) && mayEverReadPart(source.kind, name, role);
    if (!parts.every(mayEverLook)) throw new GraphQLError('invalid_parameter');
    const isLookedBy = (row: Row): boolean =>
      parts.every(({ name }) => isPartOf(source, row, name, reference));
    return of(node, reference)
      .filter(
        (row) =>
          isReadable(source, row, reference) &&
          isKept(source, row, args.filter) &&
          isSorted(row, sort) &&
          isLookedBy(row),
      )
      .toSorted((one, other) => compareBy([sort.column, 'id'], one, other) * (sort.isDescending ? -1 : 1))
      .map((row) => nodeOf(source, row));
  };
  resolvers.set(`${type}.${listsOf(source.kind)}`, (node, args, reference) =>
    (sorted(node, args, reference) as readonly Node[]).slice(0, sizeOf(args.limit)),
  );
  resolvers.set(`${type}.${listsOf(source.kind)}Connection`, (node, args, reference) =>
    pageOf(sorted(node, args, reference) as readonly Node[], args),
  );
};

const isGiven = (filter: unknown, name: string): boolean => ((filter ?? {}) as Args)[name] != null;
/** The field that a filter compares. */
const nameOf = ({ members }: Source, by: string, column: string): string | undefined =>
  by === 'words' ? undefined : members.find((member) => member.column === column)?.name;

type Sorting = Sort & { readonly isDescending: boolean; readonly field: string | undefined };
const sortOf = ({ sorts, isNewestFirst, kind }: Source, asked: unknown): Sorting => {
  const [field] = Object.entries(kind.fields).find(([, def]) => def.kind === 'states') ?? [];
  for (const sort of sorts)
    for (const isDescending of [false, true])
      if (orderName(sort, isDescending) === asked) return { ...sort, isDescending, field };
  return { ...(sorts[0] as Sort), isDescending: isNewestFirst, field };
};

/** An order by an optional field leaves out the rows without a value. */
const isSorted = (row: Row, { column, state, field }: Sorting): boolean =>
  row[column] !== null && (state === undefined || field === undefined || row[field] === state);

const isKept = ({ filters }: Pick<Source, 'filters'>, row: Row, asked: unknown): boolean =>
  Object.entries((asked ?? {}) as Args).every(([name, value]) => {
    const filter = filters.find((each) => each.name === name);
    if (value === null || filter === undefined) return true;
    const actual = row[filter.column];
    return filter.by === 'element'
      ? (actual as readonly unknown[]).includes(value)
      : String(actual) === String(value);
  });
