import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis, ReplyError } from 'ioredis';
import type { Arrivals, Charge, Charged } from '#edge/rate-limit/gcra.ts';
import { storedKey } from '#edge/rate-limit/stored-key.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Log } from '#shared/log.ts';
import { REDIS_CONNECTION, SILENCE_MAX_MS } from './redis-connection.ts';

const CHARGE = readFileSync(new URL('./charge.lua', import.meta.url), 'utf8');
const CHARGE_SHA = createHash('sha1').update(CHARGE).digest('hex');

/**
 * Stores arrivals in Redis for any number of processes, by the server’s clock. Charges that Redis loses, such
 * as in a restart, no longer count.
 */
export const openRedisArrivals = async ({
  url,
  installation,
  log,
}: {
  url: string;
  /** Is in the names of the keys. */
  installation: string;
  log: Log;
}): Promise<Arrivals> => {
  const prefix = `annals:rate-limit:${installation}:`;
  const redis = new Redis(url, {
    ...REDIS_CONNECTION,
    connectionName: 'annals-rate-limit',
    lazyConnect: true,
    socketTimeout: SILENCE_MAX_MS,
    // A request that waits for Redis to come back is worse than one that is not counted.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
  });
  const connection = { lastError: undefined as Error | undefined };
  redis.on('error', (error: Error) => {
    connection.lastError = error;
  });
  await connect(redis, { log, lastError: () => connection.lastError });
  return {
    charge: (charge) =>
      chargeKey(redis, `${prefix}${storedKey(charge)}`, charge).catch((error: unknown) => {
        // Without a connection, the driver’s error of the command hides that of the connection.
        throw redis.status === 'ready' ? error : (connection.lastError ?? error);
      }),
    [Symbol.asyncDispose]: async () => redis.disconnect(),
  };
};

/**
 * Redis may come up later than this process; a Redis that refuses the connection will refuse it later, too.
 */
const connect = async (
  redis: Redis,
  { log, lastError }: { log: Log; lastError: () => Error | undefined },
): Promise<void> => {
  const waiting = new AbortController();
  const late = delay(REDIS_CONNECTION.connectTimeout, undefined, { signal: waiting.signal }).then(
    () => {
      throw new Error(`no connection within ${REDIS_CONNECTION.connectTimeout} ms`);
    },
    () => {},
  );
  try {
    await Promise.race([redis.connect().then(() => redis.ping()), late]);
  } catch (error) {
    const refusal = [error, lastError()].find(isReply);
    if (refusal !== undefined) {
      redis.disconnect();
      throw new StartRefused(
        `The Redis of RATE_LIMIT_URL refuses the connection (${refusal.message}): set its user and password.`,
        {
          cause: refusal,
        },
      );
    }
    log.warn(
      { err: lastError() ?? error },
      'Redis does not answer yet; rate limits are shared as soon as it does.',
    );
  } finally {
    waiting.abort();
  }
};

const chargeKey = async (redis: Redis, key: string, charge: Charge): Promise<Charged> => {
  const answer = await redis
    .evalsha(CHARGE_SHA, 1, key, charge.costUs, charge.toleranceUs)
    .catch((error: unknown) => {
      // Redis forgets scripts when it restarts.
      if (!isReply(error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return redis.eval(CHARGE, 1, key, charge.costUs, charge.toleranceUs);
    });
  const [allowed, aheadUs] = answer as [number, number];
  return { allowed: allowed === 1, aheadUs };
};

/** A response of the server, rather than a failed connection. */
const isReply = (error: unknown): error is Error => error instanceof ReplyError;
