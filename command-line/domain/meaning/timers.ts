import { conditionWords } from '#kernel/conditions/words.ts';
import type { Domain, Kind, TimerInfo, TimerStart } from '#kernel/registry/registry.ts';

export const describeTimers = (domain: Domain, kind: Kind) =>
  Object.values(kind.timers).map((timer) => describeTimer(domain, kind, timer));

const describeTimer = (
  domain: Domain,
  kind: Kind,
  { name, starts, run, when: during, pause }: TimerInfo,
) => ({
  name,
  ...describeStart(starts),
  runs: run,
  ...(during !== undefined && { while: conditionWords(domain, kind, during) }),
  ...(pause !== undefined && { pause: conditionWords(domain, kind, pause) }),
});

/** Each word is a fact, so it needs no name of its field: `4 hours if urgent or 2 days if low`. */
const describeStart = (starts: TimerStart) => {
  if ('at' in starts)
    return {
      at: starts.at,
      ...(starts.beforeMs > 0 && { before: waitOf(starts.beforeMs) }),
      ...(starts.keep && { keep: counted(starts.keep.count, starts.keep.unit) }),
    };
  const { wait } = starts;
  const after = starts.after.join(' or ');
  if ('ms' in wait) return { after, wait: waitOf(wait.ms) };
  const waits = Object.entries(wait.msOf).map(([word, ms]) => `${waitOf(ms)} if ${word}`);
  return { after, wait: waits.join(' or ') };
};

const UNITS_MS = { day: 86_400_000, hour: 3_600_000, minute: 60_000, second: 1_000 };

/** In the largest unit that gives a whole number. */
const waitOf = (waitMs: number): string => {
  const [unit, unitMs] = Object.entries(UNITS_MS).find(([, each]) => waitMs % each === 0) ?? [
    'millisecond',
    1,
  ];
  return counted(waitMs / unitMs, unit);
};

const counted = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? '' : 's'}`;
