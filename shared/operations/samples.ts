import type { Pool } from '#shared/database/pool.ts';

/** How the installation did at a moment. */
export type Sample = {
  readonly at: Date;
  /** How many events the chain of hashes had. */
  readonly events: number;
  /** How far each follower was behind, in seconds; nothing where nobody knew. */
  readonly followers: Readonly<Record<string, number | null>>;
  readonly parked: number;
  readonly due: number;
  readonly dead: number;
  /** Deliveries that arrived, in the time since the sample before. */
  readonly deliveredPerSecond: number;
};

export const SAMPLE_EVERY_S = 10;
const KEPT_HOURS = 24;
/** More than this no plot shows. */
export const POINTS_MAX = 720;

/** Puts a sample to the others, and takes away those that are too old. */
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

export type Samples = { readonly everySeconds: number; readonly samples: readonly Sample[] };

/** Those after a moment, or all; where they are too many for a plot, some are told as one. */
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
 * By the clock, so that the same samples come together in each answer; one more span than points may be
 * touched at the ends.
 */
const thinned = (samples: readonly Sample[], everySeconds: number): readonly Sample[] => {
  const spanOf = ({ at }: Sample) => Math.floor(at.getTime() / (everySeconds * 1_000));
  return [...Map.groupBy(samples, spanOf).values()].map(together).slice(-POINTS_MAX);
};

/** What was counted stands for the end of the span, what stood still for its worst moment. */
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
