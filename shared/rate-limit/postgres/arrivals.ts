import { migrate } from '#shared/database/migrate.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';
import type { Arrivals } from '../gcra.ts';
import { chargeRow, removeExpiredAfter } from './statements.ts';

const CONNECTIONS_MAX = 4;
const CLEAN_EVERY_MS = 300_000;
const BATCH_MAX = 1_000;
/** What a pass leaves is for the next one. */
const BATCHES_MAX = 1_000;

type Options = { readonly url: string; readonly log: Log; readonly cleanEveryMs?: number };

/** Keeps arrivals in PostgreSQL for any number of processes, by the server's clock. */
export const openPostgresArrivals = async ({ url, log, cleanEveryMs = CLEAN_EVERY_MS }: Options): Promise<Arrivals> => {
  await using opening = new AsyncDisposableStack();
  const pool = opening.use(openPool({ url, applicationName: 'annals-rate-limit', connectionsMax: CONNECTIONS_MAX }));
  await migrate(pool, 'rate-limit', new URL('./migrations/', import.meta.url));
  opening.use(cleanRegularly(pool, { log, everyMs: cleanEveryMs }));
  const resources = opening.move();
  return { charge: (charge) => chargeRow(pool, charge), [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

/** At times that differ from process to process, so that they do not all do it together. */
const cleanRegularly = (pool: Pool, { log, everyMs }: { log: Log; everyMs: number }): AsyncDisposable => {
  const stopping = new AbortController();
  let cleaning: Promise<void> | undefined;
  const timer = setInterval(
    () => {
      cleaning ??= clean(pool, stopping.signal)
        .catch((err: unknown) => {
          if (!stopping.signal.aborted) log.warn({ err }, 'Expired rate limits could not be removed; the next pass tries again.');
        })
        .finally(() => {
          cleaning = undefined;
        });
    },
    everyMs * (1 + Math.random() / 4),
  ).unref();
  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      clearInterval(timer);
      await cleaning;
    },
  };
};

const clean = async (pool: Pool, signal: AbortSignal): Promise<void> => {
  let after = '';
  for (let batch = 0; batch < BATCHES_MAX && !signal.aborted; batch += 1) {
    const { last, seen } = await removeExpiredAfter(pool, after, BATCH_MAX);
    if (seen < BATCH_MAX) return;
    after = last;
  }
};
