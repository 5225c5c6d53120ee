import { ApolloServer } from '@apollo/server';
import fastifyApollo, { fastifyApolloDrainPlugin } from '@as-integrations/fastify';
import fastify from 'fastify';
import pg from 'pg';
import { TYPES } from './reads.ts';
import { type Context, createContext, createResolvers } from './resolvers.ts';

// Apollo Server, which caches parsing and validation, in Fastify: its documentation recommends its own server
// only for prototypes.
const pool = new pg.Pool({ connectionString: String(process.argv[2]), max: Number(process.argv[3] ?? 4) });
const app = fastify();
const plugins = [fastifyApolloDrainPlugin(app)];
const server = new ApolloServer<Context>({ typeDefs: TYPES, resolvers: createResolvers(pool), plugins });
await server.start();
await app.register(fastifyApollo(server), { context: async () => createContext() });
process.send?.({ url: `${await app.listen({ port: 0, host: '127.0.0.1' })}/graphql` });
