import type { Pool } from '#shared/database/pool.ts';

/** The state of the installation at a moment. */
export type Sample = {
  readonly at: Date;
  /** The number of events in the hash chain. */
  readonly events: number;
  /** The lag of each follower, in seconds; null if unknown. */
  readonly followers: Readonly<Record<string, number | null>>;
  readonly parked: number;
  readonly due: number;
  readonly dead: number;
  /** Successful deliveries since the sample before. */
  readonly deliveredPerSecond: number;
};

export const SAMPLE_EVERY_S = 10;
const KEPT_HOURS = 24;
/** More than this no plot shows. */
export const POINTS_MAX = 720;

/** Adds a sample, and deletes those that are too old. */
export const keepSample = async (pool: Pool, { at, ...measured }: Sample): Promise<void> => {
  await pool.query(
    `with gone as (delete from operations.sample where at < $1::timestamptz - interval '${KEPT_HOURS} hours')
     insert into operations.sample (at, measured) values ($1, $2) on conflict (at) do nothing`,
    [at, measured],
  );
};

export const readLatestAt = async (pool: Pool): Promise<Date | undefined> => {
  const { rows } = await pool.query<{ at: Date | null }>('select max(at) as at from operations.sample');
  return rows[0]?.at ?? undefined;
};

type Samples = { readonly everySeconds: number; readonly samples: readonly Sample[] };

/** The samples after a moment, or all; merges them if they are too many for a plot. */
export const readSamples = async (pool: Pool, since: Date | undefined): Promise<Samples> => {
  const { rows } = await pool.query<{ at: Date; measured: Omit<Sample, 'at'> }>(
    'select at, measured from operations.sample where at > $1 order by at',
    [since ?? new Date(0)],
  );
  const samples = rows.map(({ at, measured }) => ({ at, ...measured }));
  const together = Math.max(Math.ceil(samples.length / POINTS_MAX), 1);
  const everySeconds = SAMPLE_EVERY_S * together;
  return { everySeconds, samples: together === 1 ? samples : thinned(samples, everySeconds) };
};

/**
 * By the clock, so that each response merges the same samples; the ends may add one span more than points.
 */
const thinned = (samples: readonly Sample[], everySeconds: number): readonly Sample[] => {
  const spanOf = ({ at }: Sample) => Math.floor(at.getTime() / (everySeconds * 1_000));
  return [...Map.groupBy(samples, spanOf).values()].map(together).slice(-POINTS_MAX);
};

/** Counters have their value at the end of the span, gauges their worst. */
const together = (samples: readonly Sample[]): Sample => {
  const last = samples.at(-1);
  if (last === undefined) throw new Error('a span without a sample');
  const worst = (of: (sample: Sample) => number) => Math.max(...samples.map(of));
  const names = new Set(samples.flatMap(({ followers }) => Object.keys(followers)));
  const worstOf = (name: string): number | null => {
    const known = samples.flatMap(({ followers }) => followers[name] ?? []);
    return known.length === 0 ? null : Math.max(...known);
  };
  return {
    at: last.at,
    events: last.events,
    followers: Object.fromEntries([...names].map((name) => [name, worstOf(name)])),
    parked: worst(({ parked }) => parked),
    due: worst(({ due }) => due),
    dead: worst(({ dead }) => dead),
    deliveredPerSecond:
      samples.reduce((sum, { deliveredPerSecond }) => sum + deliveredPerSecond, 0) / samples.length,
  };
};
