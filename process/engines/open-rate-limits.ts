import { type Arrivals, type Charge, type Charged, createRateLimit } from '#edge/rate-limit/gcra.ts';
import { memoryArrivals, microsecondsOf } from '#edge/rate-limit/memory/arrivals.ts';
import type { RateLimits } from '#edge/rate-limit/rate-limit.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { loadEngine } from '#shared/load-engine.ts';
import type { Log } from '#shared/log.ts';

/** Opens the rate limits at a URL: `memory:`, `postgres:…`, or `redis:…`. Loads only the engine in use. */
export const openRateLimits = async (options: Options): Promise<RateLimits> => {
  const arrivals = await openArrivals(options);
  return {
    of: (policy) => createRateLimit(arrivals, policy),
    [Symbol.asyncDispose]: () => arrivals[Symbol.asyncDispose](),
  };
};

type Options = {
  readonly url: string;
  /** The identity of its event log: a shared engine serves several installations. */
  readonly installation: string;
  readonly log: Log;
  readonly clock: Clock;
  /** Counts in the memory of the primary process, if this is one of its workers. */
  readonly primary?: Arrivals | undefined;
};

const openArrivals = async ({ url, installation, log, clock, primary }: Options): Promise<Arrivals> => {
  const [scheme] = url.split(':', 1);
  switch (scheme) {
    case 'memory':
      return primary === undefined
        ? memoryArrivals({ nowUs: microsecondsOf(clock) })
        : surviveOutages(primary, { log, clock });
    case 'postgres':
    case 'postgresql': {
      const { openPostgresArrivals } = await import('#edge/rate-limit/postgres/arrivals.ts');
      return surviveOutages(await openPostgresArrivals({ url, installation, log, clock }), { log, clock });
    }
    case 'redis':
    case 'rediss': {
      const { openRedisArrivals } = await loadEngine('Redis', () => import('#adapters/redis/arrivals.ts'));
      const { demandRedis } = await import('#adapters/redis/demand-redis.ts');
      await demandRedis(url, 'RATE_LIMIT_URL');
      return surviveOutages(await openRedisArrivals({ url, installation, log }), { log, clock });
    }
    default:
      throw new Error(`rate limits cannot be stored at ${scheme}: – only at memory:, postgres:, and redis:`);
  }
};

const ANSWER_TIMEOUT_MS = 1_000;
const TRY_AGAIN_MS = 1_000;

type OutageOptions = {
  readonly log: Log;
  readonly answerTimeoutMs?: number;
  readonly tryAgainMs?: number;
  readonly clock: Clock;
};

/**
 * Fails open: while the engine does not respond, no request is refused or delayed for it. Each process then
 * counts by itself, so that disturbing the engine does not remove all limits.
 */
const surviveOutages = (
  engine: Arrivals,
  { log, answerTimeoutMs = ANSWER_TIMEOUT_MS, tryAgainMs = TRY_AGAIN_MS, clock }: OutageOptions,
): Arrivals => {
  const alone = memoryArrivals({ nowUs: microsecondsOf(clock) });
  let outage: { triedAtMs: number; isTrying: boolean } | undefined;
  const ask = (charge: Charge): Promise<Charged> =>
    within(Promise.resolve(engine.charge(charge)), answerTimeoutMs, clock);

  const onFailure = (err: unknown): void => {
    if (outage === undefined)
      log.warn(
        { err },
        'Rate limits are not shared: their engine does not answer, and this process counts alone.',
      );
    outage = { triedAtMs: clock.elapsedMs(), isTrying: false };
  };
  const tryAgain = (charge: Charge): void => {
    if (outage === undefined || outage.isTrying || clock.elapsedMs() - outage.triedAtMs < tryAgainMs) return;
    outage.isTrying = true;
    // Concurrently with the request, which does not wait for it.
    ask(charge).then(() => {
      outage = undefined;
      log.info('Rate limits are shared again.');
    }, onFailure);
  };

  return {
    async charge(charge) {
      if (outage === undefined) {
        try {
          return await ask(charge);
        } catch (error) {
          onFailure(error);
        }
      } else tryAgain(charge);
      return alone.charge(charge);
    },
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  };
};

const within = async <Answer>(answer: Promise<Answer>, timeoutMs: number, clock: Clock): Promise<Answer> => {
  const { promise: late, reject } = Promise.withResolvers<never>();
  using _timer = clock.after(timeoutMs, () => reject(new Error(`no answer within ${timeoutMs} ms`)));
  return await Promise.race([answer, late]);
};
