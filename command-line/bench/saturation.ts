import type { Step } from './load.ts';

/** A step with a smaller increase does not count as growth. */
const GROWTH_MIN = 0.05;
/** One step may be bad luck. */
const STEPS_WITHOUT_GROWTH_MAX = 2;
const FAILURES_SHARE_MAX = 0.01;

export type Limits = { readonly p99MaxMs: number | undefined };

export type Saturation = {
  /** The highest throughput within all limits. */
  readonly at: Step | undefined;
  readonly reason: 'throughput' | 'p99' | 'failures' | 'connections' | 'time';
};

export const failuresOf = ({ failures }: Pick<Step, 'failures'>): number =>
  Object.values(failures).reduce((sum, each) => sum + each, 0);

const isFailing = (step: Step): boolean => failuresOf(step) > step.requests * FAILURES_SHARE_MAX;
const isSlow = (step: Step, { p99MaxMs }: Limits): boolean => p99MaxMs !== undefined && step.p99Ms > p99MaxMs;

/** Returns why the load should not increase any more; undefined if it may. */
export const reasonToStop = (steps: readonly Step[], limits: Limits): Saturation['reason'] | undefined => {
  const last = steps.at(-1);
  if (last === undefined) return undefined;
  if (isFailing(last)) return 'failures';
  if (isSlow(last, limits)) return 'p99';
  const earlier = steps.slice(0, -STEPS_WITHOUT_GROWTH_MAX);
  if (earlier.length === 0) return undefined;
  const best = Math.max(...earlier.map(({ perSecond }) => perSecond));
  const later = steps.slice(-STEPS_WITHOUT_GROWTH_MAX);
  return later.every(({ perSecond }) => perSecond < best * (1 + GROWTH_MIN)) ? 'throughput' : undefined;
};

/** The fewest connections that reach nearly the maximum, within the limits. */
export const saturationOf = (
  steps: readonly Step[],
  limits: Limits,
  reason: Saturation['reason'],
): Saturation => {
  const good = steps.filter((step) => !isFailing(step) && !isSlow(step, limits));
  const best = Math.max(0, ...good.map(({ perSecond }) => perSecond));
  return { at: good.find(({ perSecond }) => perSecond * (1 + GROWTH_MIN) >= best), reason };
};
