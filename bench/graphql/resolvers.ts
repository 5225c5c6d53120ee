import DataLoader from 'dataloader';
import type pg from 'pg';
import { createReads, type Row } from './reads.ts';

// Resolvers as one writes them for graphql-js, with a loader for each request and level, as its documentation
// advises.

export type Context = {
  loader(
    name: string,
    load: (ids: readonly string[]) => Promise<readonly unknown[]>,
  ): DataLoader<string, unknown>;
};
type Limited = { readonly limit: number };

export const createContext = (): Context => {
  const loaders = new Map<string, DataLoader<string, unknown>>();
  return {
    loader(name, load) {
      const loader = loaders.get(name) ?? new DataLoader(async (ids) => [...(await load(ids))]);
      loaders.set(name, loader);
      return loader;
    },
  };
};

export const createResolvers = (pool: pg.Pool) => {
  const reads = createReads(pool);
  const author = ({ author_id }: Row, _args: object, { loader }: Context) =>
    loader('author', reads.usersById).load(String(author_id));
  return {
    Query: {
      user: (_: unknown, { id }: { id: string }) => reads.user(id),
      users: (_: unknown, args: Limited) => reads.users(args),
      posts: (_: unknown, args: Limited) => reads.posts(args),
    },
    User: {
      posts: ({ id }: Row, args: Limited, { loader }: Context) =>
        loader(`posts ${args.limit}`, (ids) => reads.postsOf(ids, args)).load(id),
    },
    Post: {
      author,
      comments: ({ id }: Row, args: Limited, { loader }: Context) =>
        loader(`comments ${args.limit}`, (ids) => reads.commentsOf(ids, args)).load(id),
    },
    Comment: { author },
  };
};
