import { type Clock, dateElsewhereMs } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';

/** A wrong clock may be ahead by years, and what it ends is lost. Clocks of well-run machines differ by less. */
const DIFFERENCE_MAX_MS = 60_000;

type Seen = { readonly databaseMs: number; readonly elapsedMs: number };
/** The first look of this process: since then, as much time must have passed for the database as for us. */
const first = new WeakMap<object, Seen>();

/**
 * Throws unless the clock of the database, by which retention is due, agrees with ours, and has not jumped
 * ahead since this process started. The end is retried, and parked with this reason meanwhile.
 */
export const demandClocksAgree = async ({
  pool,
  clock,
}: {
  readonly pool: Pick<Pool, 'query'>;
  readonly clock: Clock;
}): Promise<void> => {
  const { rows } = await pool.query<{ nowMs: number }>(
    `select (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"`,
  );
  const databaseMs = rows[0]?.nowMs ?? Number.NaN;
  const now: Seen = { databaseMs, elapsedMs: clock.elapsedMs() };
  const then = first.get(pool) ?? now;
  first.set(pool, then);
  const apartMs = Math.abs(databaseMs - dateElsewhereMs(clock));
  const jumpedMs = databaseMs - then.databaseMs - (now.elapsedMs - then.elapsedMs);
  if (!(apartMs <= DIFFERENCE_MAX_MS))
    throw new Error(
      `The clocks of the database and of this process differ by ${seconds(apartMs)} s: nothing ends by its retention until they agree.`,
    );
  if (jumpedMs > DIFFERENCE_MAX_MS)
    throw new Error(
      `The clock of the database has jumped ahead by ${seconds(jumpedMs)} s since this process started: check it, and restart this process, so that what was kept long enough ends.`,
    );
};

const seconds = (ms: number): number => Math.round(ms / 1_000);
