import { createServer, type ServerResponse } from 'node:http';
import { listen } from '../../edge/http/listen.ts';
import { openByHand } from './by-hand.ts';

// node:http alone, and statements by hand.
const database = openByHand(String(process.argv[2]));
const find = (path: string): Promise<object | undefined> =>
  path.startsWith('/articles/') ? database.item(path.slice('/articles/'.length)) : database.list(20);
const answer = (response: ServerResponse, found: object | undefined): void => {
  if (found === undefined) return void response.writeHead(404).end();
  const text = JSON.stringify(found);
  response
    .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    .end(text);
};
const server = createServer((request, response) => {
  find(String(request.url)).then(
    (found) => answer(response, found),
    (error) => response.writeHead(500).end(String(error)),
  );
});
const url = await listen(server, { port: 0, host: '127.0.0.1', setting: 'PORT' });
process.send?.({ url });
