import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openRateLimits } from '#process/engines/open-rate-limits.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openDeliveryQueue } from '../../webhook-dispatcher/queue/open.ts';
import { demandRedis } from './demand-redis.ts';

const log = pino({ level: 'silent' });

/** The response of redis-server with `protected-mode yes` and no password to a client on another machine. */
const DENIED =
  '-DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the default user.\r\n';

const listen = async (answer: (socket: Socket) => unknown) => {
  const server = createServer((socket) => void answer(socket.on('error', () => {}))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => void server.close(),
  };
};

test('a Redis in protected mode is refused at the start, by the name of its setting', async () => {
  await using redis = await listen((socket) => socket.end(DENIED));
  await expect(
    openRateLimits({ url: redis.url, installation: 'one', log, clock: REAL_TIME }),
  ).rejects.toThrow(/^The Redis of RATE_LIMIT_URL is in protected mode/);
  await expect(
    openDeliveryQueue({ url: redis.url, name: 'webhooks', log, clock: REAL_TIME }),
  ).rejects.toThrow(/^The Redis of JOB_QUEUE_URL is in protected mode/);
});

test('a Redis that responds, hangs up, or is absent does not prevent the start', async () => {
  await using well = await listen((socket) => socket.write('+PONG\r\n'));
  await using gone = await listen((socket) => socket.destroy());
  for (const url of [
    well.url,
    gone.url,
    'redis://127.0.0.1:1',
    'redis://nobody.invalid',
    'rediss://127.0.0.1:1',
  ])
    await demandRedis(url, 'RATE_LIMIT_URL');
});
