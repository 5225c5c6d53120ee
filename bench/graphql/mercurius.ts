import fastify from 'fastify';
import mercurius from 'mercurius';
import pg from 'pg';
import { createReads, type Row, TYPES } from './reads.ts';

// Mercurius with its just-in-time compiler and its batched loaders.
const pool = new pg.Pool({ connectionString: String(process.argv[2]), max: Number(process.argv[3] ?? 4) });
const reads = createReads(pool);
type Query<Params> = { readonly obj: Row; readonly params: Params };
const limitOf = (queries: readonly Query<{ limit: number }>[]) => ({ limit: queries[0]?.params.limit ?? 10 });
const authors = (queries: readonly Query<object>[]) =>
  reads.usersById(queries.map(({ obj }) => String(obj.author_id)));

const app = fastify();
await app.register(mercurius, {
  schema: TYPES,
  jit: 1,
  resolvers: {
    Query: {
      user: (_: unknown, { id }: { id: string }) => reads.user(id),
      users: (_: unknown, args: { limit: number }) => reads.users(args),
      posts: (_: unknown, args: { limit: number }) => reads.posts(args),
    },
  },
  loaders: {
    User: {
      posts: {
        loader: (queries: Query<{ limit: number }>[]) =>
          reads.postsOf(
            queries.map(({ obj }) => obj.id),
            limitOf(queries),
          ),
        opts: { cache: false },
      },
    },
    Post: {
      author: { loader: authors, opts: { cache: false } },
      comments: {
        loader: (queries: Query<{ limit: number }>[]) =>
          reads.commentsOf(
            queries.map(({ obj }) => obj.id),
            limitOf(queries),
          ),
        opts: { cache: false },
      },
    },
    Comment: { author: { loader: authors, opts: { cache: false } } },
  },
});
const url = await app.listen({ port: 0, host: '127.0.0.1' });
process.send?.({ url: `${url}/graphql` });
