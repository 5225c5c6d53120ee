import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { StartRefused } from '#kernel/base/start-refused.ts';

/** An address to listen on; an undefined host means all addresses. */
export type Listener = { readonly port: number; readonly host: string | undefined };

/**
 * Beyond this many waiting connections the system silently drops new ones. A pause of the garbage collector
 * fills Node’s default of 511.
 */
const BACKLOG_MAX = 4_096;

/**
 * Starts to listen and returns the URL. If the port is unavailable, the error is one sentence that names its
 * setting.
 */
export const listen = async (
  server: Server,
  { port, host, setting }: Listener & { readonly setting: string },
): Promise<string> => {
  server.listen({ port, host, backlog: BACKLOG_MAX });
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw explain(cause as NodeJS.ErrnoException, { port, host, setting });
  }
  const { address, family, port: actual } = server.address() as AddressInfo;
  const name =
    host === undefined || ANY.has(address) ? 'localhost' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${name}:${actual}`;
};

type Wanted = Listener & { readonly setting: string };

/**
 * Refuses unavailable ports, all in one message, and frees the others again. Not for a process that already
 * has clients, because it would accept connections that it does not serve.
 */
export const demandFreePorts = async (wanted: readonly Wanted[]): Promise<void> => {
  const refused: StartRefused[] = [];
  for (const listener of wanted) {
    const server = createServer();
    try {
      await listen(server, listener);
    } catch (error) {
      if (!(error instanceof StartRefused)) throw error;
      refused.push(error);
    } finally {
      server.close();
    }
  }
  if (refused.length > 0)
    throw new StartRefused(refused.map(({ message }) => message).join('\n'), { cause: refused[0] });
};

const ANY = new Set(['0.0.0.0', '::']);

const explain = (
  cause: NodeJS.ErrnoException,
  { port, host, setting }: Listener & { setting: string },
): Error => {
  const hostSetting = setting.replace(/PORT$/, 'HOST');
  switch (cause.code) {
    case 'EADDRINUSE':
      return new StartRefused(
        `Port ${port} is in use: stop the program that has it, or set ${setting} to another port (0 takes any free one).`,
        {
          cause,
        },
      );
    case 'EACCES':
      return new StartRefused(`This user may not listen on port ${port}: set ${setting} to one above 1023.`, {
        cause,
      });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new StartRefused(
        `${host} is not an address of this machine: set ${hostSetting} to one that is.`,
        { cause },
      );
    default:
      return cause;
  }
};
