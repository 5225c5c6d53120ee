import { createServer } from 'node:http';
import express from 'express';
import { listen } from '../../edge/http/listen.ts';
import { openByHand } from './by-hand.ts';

// Express with default settings, and statements by hand.
const database = openByHand(String(process.argv[2]));
const app = express();
app.get('/articles', async (request, response) => {
  response.json(await database.list(Number(request.query.limit ?? 20)));
});
app.get('/articles/:id', async (request, response) => {
  const item = await database.item(request.params.id);
  if (item === undefined) response.status(404).end();
  else response.json(item);
});
app.post('/articles', express.json(), async (request, response) => {
  const id = await database.insert(request.body);
  const self = `/articles/${id}`;
  response
    .status(201)
    .location(self)
    .json({ id, version: 1, _links: { self: { href: self } } });
});
const url = await listen(createServer(app), { port: 0, host: '127.0.0.1', setting: 'PORT' });
process.send?.({ url });
