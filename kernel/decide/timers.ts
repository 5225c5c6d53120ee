import type { EventId } from '../base/brands.ts';
import { and, type Expression, negate, resolve } from '../conditions/expression.ts';
import { type Holds, holdsOf } from '../conditions/holds.ts';
import type { Domain, Kind, TimerInfo } from '../registry/registry.ts';
import { ABSENT, type AggregateState } from './state.ts';

/** An event of an aggregate, its time, and the state after it. */
export type Moment = {
  readonly id: EventId;
  readonly type: string;
  readonly atMs: number;
  readonly state: AggregateState;
};

/** The state of a timer: due at a time, or paused with some time left. */
export type TimerState = { readonly name: string; readonly cause: EventId } & (
  | { readonly dueMs: number }
  | { readonly leftMs: number }
);

/** The condition for the command of a timer, checked when it runs out and when the command executes. */
export const conditionOf = (domain: Domain, kind: Kind, timer: TimerInfo): Expression =>
  and(
    timer.while === undefined ? and() : resolve(domain, kind, timer.while),
    timer.unless === undefined ? and() : negate(resolve(domain, kind, timer.unless)),
  );

/**
 * The states of an aggregate’s timers, from its whole history and the present declaration. The latest event
 * that starts a timer counts. Pure, so that it can be recomputed from the log.
 */
export const timerStatesOf = (
  domain: Domain,
  kind: Kind,
  history: readonly Moment[],
): readonly TimerState[] =>
  history.at(-1)?.state.status === 'present'
    ? Object.values(kind.timers).flatMap(
        (timer) => timerStateOf(timer, history, isPaused(domain, kind, timer)) ?? [],
      )
    : [];

const isPaused = (domain: Domain, kind: Kind, { pause }: TimerInfo): ((state: AggregateState) => boolean) => {
  if (pause === undefined) return () => false;
  const holds: Holds = holdsOf(resolve(domain, kind, pause));
  return (state) => state.status === 'present' && holds(state.fields, null, () => undefined);
};

const timerStateOf = (
  { name, after, waitMs }: TimerInfo,
  history: readonly Moment[],
  paused: (state: AggregateState) => boolean,
): TimerState | undefined => {
  let cause: EventId | undefined;
  let leftMs = waitMs;
  /** The start of the running period; undefined while paused. */
  let sinceMs: number | undefined;
  for (const { id, type, atMs, state } of history) {
    if (type === after) [cause, leftMs, sinceMs] = [id, waitMs, undefined];
    if (cause === undefined) continue;
    if (!paused(state)) sinceMs ??= atMs;
    // A timer that ran out before the pause stays due.
    else if (sinceMs !== undefined && atMs < sinceMs + leftMs)
      [leftMs, sinceMs] = [leftMs - Math.max(atMs - sinceMs, 0), undefined];
  }
  if (cause === undefined) return undefined;
  return sinceMs === undefined ? { name, cause, leftMs } : { name, cause, dueMs: sinceMs + leftMs };
};

/** The state of an aggregate at a time, by the times of its events. */
export const stateAt = (history: readonly Moment[], atMs: number): AggregateState =>
  history.findLast((moment) => moment.atMs <= atMs)?.state ?? ABSENT;
