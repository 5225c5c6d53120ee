import type { Clock } from '#shared/clock/clock.ts';
import { migrate } from '#shared/database/migrate.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';
import type { Arrivals, Charge, Charged } from '../gcra.ts';
import { storedKey } from '../stored-key.ts';

const CONNECTIONS_MAX = 4;
const CLEAN_EVERY_MS = 300_000;
const BATCH_MAX = 1_000;
/** The next run continues with the rest. */
const BATCHES_MAX = 1_000;

type Options = {
  readonly url: string;
  readonly installation: string;
  readonly log: Log;
  readonly clock?: Clock;
  readonly cleanEveryMs?: number;
};

/** Stores arrivals in PostgreSQL for any number of processes, by the server’s clock. */
export const openPostgresArrivals = async ({
  url,
  installation,
  log,
  clock,
  cleanEveryMs = CLEAN_EVERY_MS,
}: Options): Promise<Arrivals> => {
  await using opening = new AsyncDisposableStack();
  const pool = opening.use(
    openPool({
      url,
      applicationName: 'annals-rate-limit',
      connectionsMax: CONNECTIONS_MAX,
      ...(clock && { clock }),
    }),
  );
  await migrate(pool, 'rate-limit', new URL('./migrations/', import.meta.url));
  opening.use(cleanRegularly(pool, { log, everyMs: cleanEveryMs }));
  const resources = opening.move();
  return {
    charge: (charge) => chargeRow(pool, { ...charge, policy: `${installation} ${charge.policy}` }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** At times that differ from process to process, so that they do not all run together. */
const cleanRegularly = (pool: Pool, { log, everyMs }: { log: Log; everyMs: number }): AsyncDisposable => {
  const stopping = new AbortController();
  let cleaning: Promise<void> | undefined;
  const timer = setInterval(
    () => {
      cleaning ??= clean(pool, stopping.signal)
        .catch((err: unknown) => {
          if (!stopping.signal.aborted)
            log.warn({ err }, 'Expired rate limits could not be removed; the next run retries.');
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

/** The timeout also closes the connection, so that a silent server does not block the pool. */
const QUERY_TIMEOUT_MS = 2_000;

const NOW_US = '(extract(epoch from clock_timestamp()) * 1000000)::bigint';

/**
 * Reads the clock after the row is locked: of two waiting charges the later sees the later time. An arrival
 * beyond the tolerance can only come from a clock that was set back or a policy that was larger, and the key
 * must not suffer for it.
 */
const CHARGE = `
  insert into public.rate_limit as known (key, arrival_us, asked_at_us, allowed)
  select $1, asked.at_us + $2::bigint, asked.at_us, true from (select ${NOW_US} as at_us) as asked
  on conflict (key) do update set (arrival_us, asked_at_us, allowed) = (
    select case when fits then arrival_us + $2::bigint else arrival_us end, at_us, fits
    from (select at_us, arrival_us, arrival_us + $2::bigint <= at_us + $3::bigint as fits
          from (select at_us, least(greatest(before_us, at_us), at_us + $3::bigint) as arrival_us
                from (select known.arrival_us as before_us, ${NOW_US} as at_us) as locked) as bounded) as decided)
  returning allowed, arrival_us - asked_at_us as ahead_us`;

type Row = { readonly allowed: boolean; readonly ahead_us: number };

const chargeRow = async (pool: Pool, charge: Charge): Promise<Charged> => {
  const values = [storedKey(charge), charge.costUs, charge.toleranceUs];
  const query = { name: 'charge-rate-limit', text: CHARGE, values, query_timeout: QUERY_TIMEOUT_MS };
  const { rows } = await pool.query<Row>(query);
  const [row] = rows;
  if (row === undefined) throw new Error('an upsert returns its row');
  return { allowed: row.allowed, aheadUs: row.ahead_us };
};

/**
 * Checks one batch of rows in the order of their keys and removes the expired ones. An index on the arrival
 * would find them faster, but every request would have to write to it.
 */
const removeExpiredAfter = async (
  pool: Pool,
  after: string,
  batch: number,
): Promise<{ last: string; seen: number }> => {
  const { rows } = await pool.query<{ last: string | null; seen: number }>(
    `with batch as (select key from public.rate_limit where key > $1 order by key limit $2),
          gone as (delete from public.rate_limit as expired using batch where expired.key = batch.key and expired.arrival_us < ${NOW_US})
     select max(key) as last, count(*) as seen from batch`,
    [after, batch],
  );
  return { last: rows[0]?.last ?? after, seen: rows[0]?.seen ?? 0 };
};
