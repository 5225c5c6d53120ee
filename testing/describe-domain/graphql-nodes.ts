import { GraphQLError, type GraphQLSchema } from 'graphql';
import type { Domain, Row } from '#kernel/registry/registry.ts';
import { idArgument } from '../../query/graphql/rules/names.ts';
import type { ItemSource, Member, Source } from '../../query/rows/source.ts';
import { isPresent, sourcesOf } from '../../query/rows/sources.ts';
import type { ViewSource } from '../../query/views/source.ts';
import { type Asking, mayAs } from './declared.ts';
import type { Rows } from './graphql-rows.ts';

/** graphql-js walks over whole tables in memory, and the declaration is read for every row. */
export type Reference = {
  readonly domain: Domain;
  readonly schema: GraphQLSchema;
  readonly rows: Rows;
  readonly asking: Asking;
};

export type Args = Readonly<Record<string, unknown>>;
/** A row, and its type. */
export type Node = {
  readonly type: string;
  readonly source: Source | ItemSource | ViewSource;
  readonly row: Row;
};
export type Resolve = (node: Node, args: Args, reference: Reference) => unknown;
export type Resolvers = ReadonlyMap<string, Resolve>;

export const nodeOf = (source: Source, row: Row): Node => ({ type: source.kind.type, source, row });

export const isReadable = (source: Source, row: Row, { domain, asking, rows }: Reference): boolean =>
  hasParent(domain, source, { row, rows }) && mayAs(asking, source.kind, 'read', rows.stateOf(source, row));

/** An aggregate without its parent is not read at all. */
const hasParent = (
  domain: Domain,
  { parent }: Source,
  { row, rows }: { readonly row: Row; readonly rows: Rows },
): boolean => {
  const above = parent?.target && sourcesOf(domain).of(parent.target.name);
  if (parent === undefined || above === undefined) return true;
  const found = rows.byId(above, row[parent.column]);
  return found !== undefined && isPresent(above, found);
};

export const memberValue = (domain: Domain, { column, def, target, showsEnded }: Member): Resolve => {
  const other = target && sourcesOf(domain).of(target.name);
  if (!other) return ({ row }) => row[column] ?? def.personal?.erased ?? null;
  return ({ row }, _, reference) => {
    const found = reference.rows.byId(other, row[column]);
    // A deleted user keeps a row with a placeholder name, for readers who may read all users.
    return found && (showsEnded || (isPresent(other, found) && isReadable(other, found, reference)))
      ? nodeOf(other, found)
      : null;
  };
};

/** The id of a reference, also if its target is absent. */
export const idsOf = (
  type: string,
  members: readonly Member[],
): readonly (readonly [Member, string, Resolve])[] =>
  members.flatMap((member) => {
    const { column, target } = member;
    const id: Resolve = ({ row }) => (row[column] === null ? null : String(row[column]));
    return target ? [[member, `${type}.${idArgument(member)}`, id] as const] : [];
  });

export const compareBy = (columns: readonly string[], one: Row, other: Row): number => {
  for (const column of columns) {
    const [a, b] = [one[column], other[column]] as [string, string];
    if (a === b) continue;
    // As in PostgreSQL, null comes last.
    if (a === null || b === null) return a === null ? 1 : -1;
    return a < b ? -1 : 1;
  }
  return 0;
};

export const sizeOf = (value: unknown): number => {
  const size = (value ?? 10) as number;
  if (size < 0 || size > 100) throw new GraphQLError('limit_out_of_range');
  return size;
};

export const pageOf = (all: readonly Node[], { first: from, last }: Args) => {
  const size = sizeOf(from ?? last);
  const nodes = last == null ? all.slice(0, size) : all.slice(Math.max(0, all.length - size));
  const hasMore = all.length > size;
  return {
    nodes,
    edges: nodes.map((node) => ({ node })),
    totalCount: all.length,
    pageInfo: { hasNextPage: last == null && hasMore, hasPreviousPage: last != null && hasMore },
  };
};
