import { once } from 'node:events';
import { connect } from 'node:net';
import { StartRefused } from '#kernel/base/start-refused.ts';

const TIMEOUT_MS = 1_000;
const PORT = 6379;

/**
 * Refuses the start if Redis is in protected mode. Such a server reports that to a client and hangs up, but
 * the driver hides it: it would wait forever, as for a server that is not up yet. An absent server is no
 * reason to refuse.
 */
export const demandRedis = async (
  url: string,
  setting: 'JOB_QUEUE_URL' | 'RATE_LIMIT_URL',
): Promise<void> => {
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'redis:') return;
  const socket = connect(Number(port || PORT), hostname.replace(/^\[|\]$/g, ''));
  try {
    socket.write('PING\r\n');
    const [said] = (await once(socket, 'data', { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(() => [
      '',
    ])) as [unknown];
    if (!String(said).startsWith('-DENIED')) return;
  } finally {
    socket.on('error', () => {}).destroy();
  }
  throw new StartRefused(
    `The Redis of ${setting} is in protected mode and accepts no connection from this host: give its user a password, or set protected-mode to no if nobody else can reach it.`,
  );
};
