import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports of outgoing connections, one of which could take it just when a server restarts. */
const FIRST = 15_000;
const COUNT = 17_000;

/** Each process begins elsewhere, and never tests a port twice in a row. */
let next = randomInt(COUNT);

/** A port that was free a moment ago; its user must be ready to find it taken and request another. */
export const freePort = async (): Promise<number> => {
  for (let tried = 0; tried < COUNT; tried += 1) {
    next = (next + 1) % COUNT;
    const port = FIRST + next;
    if (await isFree(port)) return port;
  }
  throw new Error(`no port from ${FIRST} to ${FIRST + COUNT - 1} is free`);
};

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer();
  const listening = once(server, 'listening').then(
    () => true,
    () => false,
  );
  server.listen(port, '127.0.0.1');
  if (!(await listening)) return false;
  server.close();
  await once(server, 'close');
  return true;
};
