import { createServer } from 'node:http';
import { listen } from '../../edge/http/listen.ts';

// Receives requests. Given a number, it reports the rate per second from the first to the last of that many.
let expected = 0;
let received = 0;
let firstMs = 0;

const count = (): void => {
  const nowMs = performance.now();
  if (received === 0) firstMs = nowMs;
  received += 1;
  if (received === expected) process.send?.(((received - 1) / (nowMs - firstMs)) * 1_000);
};

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(204).end();
    count();
  });
});
process.send?.({ url: await listen(server, { port: 0, host: '127.0.0.1', setting: 'PORT' }) });
process.on('message', (next: number) => {
  [expected, received] = [next, 0];
});
