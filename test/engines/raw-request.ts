import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * Sends raw lines, which `fetch` would correct or refuse, and returns the whole response until the other side
 * closes.
 */
export const sendRaw = async (origin: string, lines: readonly string[], body = ''): Promise<string> => {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  // Node would abort the request if it were ended now.
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
  return text(socket);
};
