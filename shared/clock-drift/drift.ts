import { type Clock, dateElsewhereMs } from '#shared/clock/clock.ts';
import { isUndefinedTable } from '#shared/database/failures.ts';
import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';
import { readWentBack, type WentBackReport } from './went-back.ts';

/** How far the clock of this process is ahead of another one; negative if it is slow. */
export type Drift = {
  readonly driftMs: number;
  /** Half of the round trip: the drift is known this exactly. */
  readonly uncertaintyMs: number;
};

/** The clock that was compared: of the database, or of the authority that stamps heads (`AUDIT_TSA_URL`). */
type OtherClock = 'database' | 'time stamps';

export const migrateDrift = (pool: Pool): Promise<void> =>
  migrate(pool, 'clock', new URL('./migrations/', import.meta.url));

const SAMPLES = 3;

/** Of several measurements, the one with the shortest round trip. */
export const measureDrift = async (
  pool: Pick<Pool, 'query'>,
  clock: Pick<Clock, 'nowMs' | 'aheadMs' | 'elapsedMs'>,
): Promise<Drift> => {
  let best: Drift | undefined;
  for (let times = 0; times < SAMPLES; times += 1) {
    const sample = await sampleOf(pool, clock);
    if (best === undefined || sample.uncertaintyMs < best.uncertaintyMs) best = sample;
  }
  return best as Drift;
};

const sampleOf = async (
  pool: Pick<Pool, 'query'>,
  clock: Pick<Clock, 'nowMs' | 'aheadMs' | 'elapsedMs'>,
): Promise<Drift> => {
  const [sentMs, begunMs] = [dateElsewhereMs(clock), clock.elapsedMs()];
  const { rows } = await pool.query<{ atMs: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as "atMs"',
  );
  const halfMs = (clock.elapsedMs() - begunMs) / 2;
  return { driftMs: sentMs + halfMs - Number(rows[0]?.atMs), uncertaintyMs: halfMs };
};

export type Measured = Drift & {
  readonly against: OtherClock;
  readonly role: string;
  readonly source: string | undefined;
};

/** Keeps the largest drift of each day of the other clock. */
export const recordDrift = async (
  pool: Pick<Pool, 'query'>,
  { against, driftMs, uncertaintyMs, role, source }: Measured,
): Promise<void> => {
  await pool.query(
    `insert into clock.drift as kept (day, against, largest_ms, uncertainty_ms, at, role, source)
     values ((clock_timestamp() at time zone 'UTC')::date, $1, $2, $3, clock_timestamp(), $4, $5)
     on conflict (day, against) do update set
       measurements = kept.measurements + 1,
       source = coalesce(excluded.source, kept.source),
       largest_ms = case when abs(excluded.largest_ms) > abs(kept.largest_ms) then excluded.largest_ms else kept.largest_ms end,
       uncertainty_ms = case when abs(excluded.largest_ms) > abs(kept.largest_ms) then excluded.uncertainty_ms else kept.uncertainty_ms end,
       at = case when abs(excluded.largest_ms) > abs(kept.largest_ms) then excluded.at else kept.at end,
       role = case when abs(excluded.largest_ms) > abs(kept.largest_ms) then excluded.role else kept.role end`,
    [against, driftMs, uncertaintyMs, role, source ?? null],
  );
};

/** The largest drift from one clock. */
type Largest = {
  readonly against: string;
  readonly driftMs: number;
  readonly uncertaintyMs: number;
  readonly at: string;
  readonly role: string;
};

/** The clocks that give events their times. */
export type ClockReport = {
  /** The source that synchronizes them; null if the settings name none. */
  readonly source: string | null;
  /** The first measurement; null if there was none. */
  readonly since: string | null;
  readonly measurements: number;
  /** By the other clock, of all days. */
  readonly largest: readonly Largest[];
  /** The same of today and yesterday. */
  readonly recent: readonly Largest[];
  /** Events whose time is before that of the event before them in their stream. */
  readonly wentBack: WentBackReport;
};

const UNKNOWN: ClockReport = {
  source: null,
  since: null,
  measurements: 0,
  largest: [],
  recent: [],
  wentBack: { count: 0, latest: [] },
};

export const readClockReport = async (pool: Pick<Pool, 'query'>): Promise<ClockReport> => {
  try {
    const [largest, recent, wentBack, { rows: sums }] = await Promise.all([
      selectLargest(pool, 'true'),
      selectLargest(pool, `day >= (clock_timestamp() at time zone 'UTC')::date - 1`),
      readWentBack(pool),
      pool.query<{ since: string | null; measurements: number; source: string | null }>(
        `select min(day)::text as since, coalesce(sum(measurements), 0)::float8 as measurements,
           (select source from clock.drift where source is not null order by day desc limit 1) as source
         from clock.drift`,
      ),
    ]);
    const { since = null, measurements = 0, source = null } = sums[0] ?? {};
    return { source, since, measurements, largest, recent, wentBack };
  } catch (error) {
    // No process of this release has started yet.
    if (isUndefinedTable(error)) return UNKNOWN;
    throw error;
  }
};

type Row = Omit<Largest, 'at'> & { readonly at: Date };

const selectLargest = async (pool: Pick<Pool, 'query'>, where: string): Promise<readonly Largest[]> => {
  const { rows } = await pool.query<Row>(
    `select distinct on (against) against, round(largest_ms::numeric, 3)::float8 as "driftMs",
       round(uncertainty_ms::numeric, 3)::float8 as "uncertaintyMs", at, role
     from clock.drift where ${where} order by against, abs(largest_ms) desc`,
  );
  return rows.map(({ at, ...row }) => ({ ...row, at: at.toISOString() }));
};
