// Over 200 lines, because it is one implementation: all queries on tables in memory, independent of the
// planner.
import {
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  parse,
} from 'graphql';
import { type Caller, may } from '#shared/policy.ts';
import { cursorOf, rowPositionOf } from '../../query/graphql/planner/cursors.ts';
import type { ArticleRow, CommentRow, ReadModelRows, UserRow } from './read-model-rows.ts';

/**
 * An independent implementation of queries: graphql-js walks over whole tables in memory, and `may` checks
 * every row. It uses SQL only for the ids of the articles that each search finds.
 */
type Reference = {
  readonly schema: GraphQLSchema;
  readonly rows: ReadModelRows;
  readonly caller: Caller;
  /** The ids of the articles that PostgreSQL finds by a search. */
  readonly found: ReadonlyMap<string, ReadonlySet<number>>;
};

type Row = UserRow | ArticleRow | CommentRow;
type Args = Readonly<Record<string, unknown>>;
type Resolve<Source> = (source: Source, args: Args, reference: Reference) => unknown;
type Order = { readonly column: 'created_at' | 'published_at'; readonly descending: boolean };
type Edge = { readonly cursor: string; readonly node: Row };

export const executeReference = async (
  reference: Reference,
  text: string,
  variables: Record<string, unknown>,
): Promise<ExecutionResult> =>
  execute({
    schema: reference.schema,
    document: parse(text),
    variableValues: variables,
    contextValue: reference,
    fieldResolver: resolve,
    typeResolver: (value) => typeOf(value as Row),
  });

const resolve: GraphQLFieldResolver<unknown, Reference> = (
  source,
  args,
  reference,
  { parentType, fieldName },
) => {
  const own = (RESOLVERS as Record<string, Record<string, Resolve<never>>>)[parentType.name]?.[fieldName];
  return own ? own(source as never, args, reference) : (source as Record<string, unknown>)[fieldName];
};

const typeOf = (row: Row): string => ('article_id' in row ? 'Comment' : 'title' in row ? 'Post' : 'User');

const articleOf = ({ rows }: Reference, { article_id }: CommentRow): ArticleRow | undefined =>
  rows.articles.find(({ id }) => id === article_id);

const mayRead = (reference: Reference, row: Row): boolean => {
  const { caller } = reference;
  if ('article_id' in row) {
    const article = articleOf(reference, row);
    return (
      article !== undefined &&
      may(caller, 'comment.read', {
        fields: { author: row.author_id },
        find: () => ({ author: article.author_id, status: article.status }),
      })
    );
  }
  if ('title' in row)
    return may(caller, 'article.read', { fields: { author: row.author_id, status: row.status } });
  return row.deleted_at === null && may(caller, 'user.read', { fields: { id: row.id } });
};

const all = ({ rows }: Reference): readonly Row[] => [...rows.users, ...rows.articles, ...rows.comments];

const byId =
  (type?: string): Resolve<unknown> =>
  (_source, { id }, reference) =>
    all(reference).find(
      (row) => String(row.id) === id && (type ?? typeOf(row)) === typeOf(row) && mayRead(reference, row),
    ) ?? null;

const openly =
  (read: (user: UserRow) => unknown): Resolve<UserRow> =>
  (user, _args, { caller }) =>
    user.deleted_at === null && may(caller, 'user.read_private', { fields: { id: user.id } })
      ? read(user)
      : null;

const authorOf: Resolve<ArticleRow | CommentRow> = ({ author_id }, _args, { rows }) =>
  rows.users.find(({ id }) => id === author_id);

const usersOf: Resolve<unknown> = (_source, _args, reference) =>
  reference.rows.users.filter((user) => mayRead(reference, user));

const postsOf: Resolve<UserRow | undefined> = (author, args, reference) => {
  const filter = (args.filter ?? {}) as { status?: string; tag?: string; author?: string; search?: string };
  return reference.rows.articles.filter(
    (post) =>
      mayRead(reference, post) &&
      (author === undefined || post.author_id === author.id) &&
      (filter.status ?? post.status) === post.status &&
      (filter.tag == null || post.tags.includes(filter.tag)) &&
      (filter.author == null || String(post.author_id) === filter.author) &&
      (filter.search == null || reference.found.get(filter.search)?.has(post.id) === true) &&
      (String(args.sort).startsWith('PUBLISHED_AT') ? post.status === 'published' : true),
  );
};

const commentsOf: Resolve<ArticleRow> = (post, _args, reference) =>
  reference.rows.comments.filter((comment) => comment.article_id === post.id && mayRead(reference, comment));

const orderOf = (type: string, sort: unknown): Order => {
  const name = String(sort ?? (type === 'Comment' ? 'CREATED_AT_ASC' : 'CREATED_AT_DESC'));
  return {
    column: name.startsWith('PUBLISHED') ? 'published_at' : 'created_at',
    descending: name.endsWith('DESC'),
  };
};

const keyOf = (row: Row, { column }: Order): number =>
  (column === 'published_at' ? (row as ArticleRow).published_at : row.created_at)?.getTime() ?? Number.NaN;

const compare = (
  order: Order,
  one: { key: number; id: number },
  other: { key: number; id: number },
): number => (one.key - other.key || one.id - other.id) * (order.descending ? -1 : 1);

const sorted = (rows: readonly Row[], order: Order): readonly Row[] =>
  rows.toSorted((one, other) =>
    compare(order, { key: keyOf(one, order), id: one.id }, { key: keyOf(other, order), id: other.id }),
  );

const sizeOf = (value: unknown): number => {
  const size = (value ?? 10) as number;
  if (size < 0 || size > 100) throw new GraphQLError('limit_out_of_range');
  return size;
};

const list =
  <Source>(type: string, rowsOf: Resolve<Source>): Resolve<Source> =>
  (source, args, reference) =>
    sorted(rowsOf(source, args, reference) as readonly Row[], orderOf(type, args.sort)).slice(
      0,
      sizeOf(args.limit),
    );

const connection =
  <Source>(type: string, rowsOf: Resolve<Source>): Resolve<Source> =>
  (source, args, reference) => {
    const order = orderOf(type, args.sort);
    const rows = sorted(rowsOf(source, args, reference) as readonly Row[], order);
    if (args.first != null && args.last != null) throw new GraphQLError('first together with last');
    const size = sizeOf(args.first ?? args.last);
    const isPast = (cursor: unknown, row: Row, side: 1 | -1): boolean => {
      if (cursor == null) return true;
      const { at, id } = rowPositionOf(type, order, cursor);
      return compare(order, { key: keyOf(row, order), id: row.id }, { key: Date.parse(at), id }) * side > 0;
    };
    for (const cursor of [args.after, args.before]) if (cursor != null) rowPositionOf(type, order, cursor);
    const between = rows.filter((row) => isPast(args.after, row, 1) && isPast(args.before, row, -1));
    const page =
      args.last == null ? between.slice(0, size) : between.slice(Math.max(0, between.length - size));
    const edges: readonly Edge[] = page.map((node) => ({
      cursor: cursorOf(type, order, { atMs: keyOf(node, order), id: node.id }),
      node,
    }));
    const hasMore = between.length > size;
    return {
      edges,
      nodes: page,
      totalCount: rows.length,
      pageInfo: {
        hasNextPage: args.before != null || (args.last == null && hasMore),
        hasPreviousPage: args.after != null || (args.last != null && hasMore),
        startCursor: edges[0]?.cursor ?? null,
        endCursor: edges.at(-1)?.cursor ?? null,
      },
    };
  };

const at =
  <Column extends string>(column: Column): Resolve<Readonly<Record<Column, Date | null>>> =>
  (row) =>
    row[column]?.toISOString() ?? null;

const RESOLVERS = {
  Query: {
    node: byId(),
    user: byId('User'),
    post: byId('Post'),
    comment: byId('Comment'),
    me: (_source: unknown, _args: Args, { rows, caller }: Reference) =>
      rows.users.find(
        (user) => caller.kind === 'user' && user.id === caller.userId && user.deleted_at === null,
      ) ?? null,
    users: list('User', usersOf),
    usersConnection: connection('User', usersOf),
    posts: list<unknown>('Post', (_source, args, reference) => postsOf(undefined, args, reference)),
    postsConnection: connection<unknown>('Post', (_source, args, reference) =>
      postsOf(undefined, args, reference),
    ),
  },
  User: {
    name: ({ name }: UserRow) => name ?? 'Deleted user',
    email: openly(({ email }) => email),
    role: openly(({ role }) => role),
    createdAt: openly(({ created_at }) => created_at.toISOString()),
    updatedAt: openly(({ updated_at }) => updated_at.toISOString()),
    posts: list('Post', postsOf),
    postsConnection: connection('Post', postsOf),
  },
  Post: {
    author: authorOf,
    createdAt: at('created_at'),
    updatedAt: at('updated_at'),
    publishedAt: at('published_at'),
    comments: list('Comment', commentsOf),
    commentsConnection: connection('Comment', commentsOf),
  },
  Comment: {
    text: ({ text }: CommentRow) => text ?? '[deleted]',
    author: authorOf,
    post: (comment: CommentRow, _args: Args, reference: Reference) => articleOf(reference, comment),
    createdAt: at('created_at'),
    updatedAt: at('updated_at'),
  },
} as const;
