import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import pg from 'pg';
import { TYPES } from './reads.ts';
import { type Context, createContext, createResolvers } from './resolvers.ts';

// Apollo Server as it comes, which caches parsing and validation.
const pool = new pg.Pool({ connectionString: String(process.argv[2]), max: Number(process.argv[3] ?? 4) });
const server = new ApolloServer<Context>({ typeDefs: TYPES, resolvers: createResolvers(pool), nodeEnv: 'production' });
const { url } = await startStandaloneServer(server, { listen: { port: 0, host: '127.0.0.1' }, context: async () => createContext() });
process.send?.({ url });
