import { createServer } from 'node:http';
import { createYoga } from 'graphql-yoga';
import { listen } from '../../edge/http/listen.ts';
import { createSchema, publish } from './peer.ts';

// GraphQL Yoga with default settings.
const yoga = createYoga({ logging: false, graphiql: false, schema: createSchema() });
const server = createServer((request, response) => {
  if (request.url !== '/publish') return void yoga(request, response);
  publish();
  response.writeHead(204).end();
});
const url = await listen(server, { port: 0, host: '127.0.0.1', setting: 'PORT' });
process.send?.({ url });
