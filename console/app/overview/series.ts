import type { OperationsSamples } from '#shared/rest/operator.ts';

type Sample = OperationsSamples['samples'][number];

/** The data of a plot: times in seconds, and the values of each line, null if unknown. */
export type Series = { readonly times: readonly number[]; readonly lines: readonly Line[] };
type Line = { readonly label: string; readonly values: readonly (number | null)[] };

const MS_PER_SECOND = 1_000;
const FOLLOWERS_MAX = 5;

/** Known and new samples of the last seconds. */
export const joined = (
  known: readonly Sample[],
  later: readonly Sample[],
  lastSeconds: number,
): readonly Sample[] => {
  const newest = known.at(-1);
  const all = [...known, ...later.filter(({ at }) => newest === undefined || at > newest.at)];
  const last = all.at(-1);
  return last === undefined ? all : all.filter(({ at }) => secondsOf(last.at) - secondsOf(at) <= lastSeconds);
};

const secondsOf = (at: string): number => Date.parse(at) / MS_PER_SECOND;

/** Events and deliveries per second, as a mean since the previous sample. */
export const throughputOf = (samples: readonly Sample[]): Series => ({
  times: samples.map(({ at }) => secondsOf(at)),
  lines: [
    { label: 'Events', values: samples.map((sample, index) => eventsPerSecond(samples[index - 1], sample)) },
    ...lineOf('Deliveries', samples, 'deliveredPerSecond'),
  ],
});

/** None in an installation without webhooks. */
const lineOf = (
  label: string,
  samples: readonly Sample[],
  of: 'due' | 'dead' | 'deliveredPerSecond',
): readonly Line[] =>
  samples.every((sample) => sample[of] === undefined)
    ? []
    : [{ label, values: samples.map((sample) => sample[of] ?? null) }];

const eventsPerSecond = (before: Sample | undefined, sample: Sample): number | null => {
  const [from, to] = [before?.events, sample.events];
  if (before === undefined || from === undefined || to === undefined) return null;
  const seconds = secondsOf(sample.at) - secondsOf(before.at);
  // A shorter log is another log.
  return seconds > 0 && to >= from ? (to - from) / seconds : null;
};

/**
 * The projector, because its lag determines the age of reads, and the followers with the most lag. More lines
 * would be indistinguishable.
 */
export const lagOf = (samples: readonly Sample[]): Series => {
  const worst = new Map<string, number>();
  for (const { followers } of samples) {
    for (const [name, seconds] of Object.entries(followers))
      worst.set(name, Math.max(worst.get(name) ?? 0, seconds ?? 0));
  }
  const names = [...worst]
    .toSorted(
      ([name, one], [otherName, other]) =>
        rankOf(name) - rankOf(otherName) || other - one || (name < otherName ? -1 : 1),
    )
    .slice(0, FOLLOWERS_MAX)
    .map(([name]) => name);
  return {
    times: samples.map(({ at }) => secondsOf(at)),
    lines: names.map((name) => ({
      label: name,
      values: samples.map(({ followers }) => followers[name] ?? null),
    })),
  };
};

const rankOf = (name: string): number => (name === 'projector' ? 0 : 1);

export const queuesOf = (samples: readonly Sample[]): Series => ({
  times: samples.map(({ at }) => secondsOf(at)),
  lines: [
    ...lineOf('Due', samples, 'due'),
    ...lineOf('Dead', samples, 'dead'),
    { label: 'Parked', values: samples.map(({ parked }) => parked) },
  ],
});

/** The last and the highest value of each line, for screen readers. */
export const seriesInWords = ({ lines }: Series, text: (value: number) => string): string =>
  lines
    .map(({ label, values }) => {
      const known = values.filter((value) => value !== null);
      const last = known.at(-1);
      return last === undefined
        ? `${label}: unknown`
        : `${label}: now ${text(last)}, at most ${text(Math.max(...known))}`;
    })
    .join('; ');
