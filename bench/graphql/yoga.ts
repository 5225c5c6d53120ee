import { createServer } from 'node:http';
import { useGraphQlJit } from '@envelop/graphql-jit';
import { createSchema, createYoga } from 'graphql-yoga';
import pg from 'pg';
import { listen } from '../../edge/http/listen.ts';
import { TYPES } from './reads.ts';
import { type Context, createContext, createResolvers } from './resolvers.ts';

// GraphQL Yoga, which caches parsing and validation, with its plugin that compiles documents.
const pool = new pg.Pool({ connectionString: String(process.argv[2]), max: Number(process.argv[3] ?? 4) });
const schema = createSchema<Context>({ typeDefs: TYPES, resolvers: createResolvers(pool) });
const yoga = createYoga({
  logging: false,
  graphiql: false,
  context: createContext,
  schema,
  plugins: [useGraphQlJit()],
});
const url = await listen(createServer(yoga), { port: 0, host: '127.0.0.1', setting: 'PORT' });
process.send?.({ url: `${url}/graphql` });
