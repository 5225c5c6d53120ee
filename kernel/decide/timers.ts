import type { EventId } from '#shared/brands.ts';
import { and, type Expression, negate, resolve } from '../conditions/expression.ts';
import { type Holds, holdsOf } from '../conditions/holds.ts';
import type { Domain, Kind, TimerInfo } from '../registry/registry.ts';
import { ABSENT, type AggregateState } from './state.ts';

/** An event of an aggregate, when it happened, and what it left behind. */
export type Moment = {
  readonly id: EventId;
  readonly type: string;
  readonly atMs: number;
  readonly state: AggregateState;
};

/** Where a timer is: it runs out at a time, or is paused with some time left. */
export type Standing = { readonly name: string; readonly cause: EventId } & (
  | { readonly dueMs: number }
  | { readonly leftMs: number }
);

/** What must be true of the aggregate when it runs out, and when the command is given. */
export const conditionOf = (domain: Domain, kind: Kind, timer: TimerInfo): Expression =>
  and(
    timer.while === undefined ? and() : resolve(domain, kind, timer.while),
    timer.unless === undefined ? and() : negate(resolve(domain, kind, timer.unless)),
  );

/**
 * Where the timers of an aggregate are, by its whole history and what is declared now: the latest event that
 * starts one counts. Pure, so that whatever knows the log knows them.
 */
export const standingsOf = (domain: Domain, kind: Kind, history: readonly Moment[]): readonly Standing[] =>
  history.at(-1)?.state.status === 'present'
    ? Object.values(kind.timers).flatMap(
        (timer) => standingOf(timer, history, isPaused(domain, kind, timer)) ?? [],
      )
    : [];

const isPaused = (domain: Domain, kind: Kind, { pause }: TimerInfo): ((state: AggregateState) => boolean) => {
  if (pause === undefined) return () => false;
  const holds: Holds = holdsOf(resolve(domain, kind, pause));
  return (state) => state.status === 'present' && holds(state.fields, null, () => undefined);
};

const standingOf = (
  { name, after, waitMs }: TimerInfo,
  history: readonly Moment[],
  paused: (state: AggregateState) => boolean,
): Standing | undefined => {
  let cause: EventId | undefined;
  let leftMs = waitMs;
  /** Since when it runs; it does not while it is paused. */
  let sinceMs: number | undefined;
  for (const { id, type, atMs, state } of history) {
    if (type === after) [cause, leftMs, sinceMs] = [id, waitMs, undefined];
    if (cause === undefined) continue;
    if (!paused(state)) sinceMs ??= atMs;
    // What has run out before it was to be paused stays as it was.
    else if (sinceMs !== undefined && atMs < sinceMs + leftMs)
      [leftMs, sinceMs] = [leftMs - Math.max(atMs - sinceMs, 0), undefined];
  }
  if (cause === undefined) return undefined;
  return sinceMs === undefined ? { name, cause, leftMs } : { name, cause, dueMs: sinceMs + leftMs };
};

/** What an aggregate was at a time, by the times that its events say. */
export const stateAt = (history: readonly Moment[], atMs: number): AggregateState =>
  history.findLast((moment) => moment.atMs <= atMs)?.state ?? ABSENT;
