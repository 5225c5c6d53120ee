import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * Sends lines as they are, which `fetch` would set right or refuse, and answers with all that comes back
 * until the other side ends it.
 */
export const sendRaw = async (origin: string, lines: readonly string[], body = ''): Promise<string> => {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  // Ending it now would break off the request, for Node.
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
  return text(socket);
};
