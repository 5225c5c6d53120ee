import { once } from 'node:events';
import { createServer } from '#edge/http/node-http.ts';

const HOST = '127.0.0.1';

export const receiverUrlOf = (port: number): string => `http://${HOST}:${port}`;

/** Receives the webhooks of a demo as long as this process runs. Returns false if the port is in use. */
export const startReceiver = async (port: number): Promise<boolean> => {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/plain' }).end('Thank you.');
  });
  // The receiver does not keep the process alive.
  server.unref();
  server.listen(port, HOST);
  try {
    await once(server, 'listening');
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
};
