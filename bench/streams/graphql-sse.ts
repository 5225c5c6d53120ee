import { createServer } from 'node:http';
import express from 'express';
import { createHandler } from 'graphql-sse/lib/use/express';
import { listen } from '../../edge/http/listen.ts';
import { createSchema, publish } from './peer.ts';

// The handler of graphql-sse for Express with default settings, which executes for each subscriber.
const handler = createHandler({ schema: createSchema() });
const app = express();
app.post('/publish', (_request, response) => {
  publish();
  response.sendStatus(204);
});
app.use('/graphql', (request, response) => handler(request, response));
const url = await listen(createServer(app), { port: 0, host: '127.0.0.1', setting: 'PORT' });
process.send?.({ url });
