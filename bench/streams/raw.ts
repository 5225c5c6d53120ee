import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { listen } from '../../edge/http/listen.ts';
import { sample } from './peer.ts';

// The minimum: responses that stay open, and one buffer with our bytes written to all sockets.
const sockets = new Set<Socket>();
const message = Buffer.from(sample.message);

const server = createServer((request, response) => {
  request.resume();
  if (request.url === '/publish') {
    for (const socket of sockets) socket.write(message);
    return void response.writeHead(204).end();
  }
  response.useChunkedEncodingByDefault = false;
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n');
  const { socket } = request;
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
});
const url = await listen(server, { port: 0, host: '127.0.0.1', setting: 'PORT' });
process.send?.({ url });
