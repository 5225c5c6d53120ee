import type { EventId } from '../base/brands.ts';
import { keptUntilMs } from '../base/keeping.ts';
import { and, type Expression, resolve } from '../conditions/expression.ts';
import { type Holds, holdsOf } from '../conditions/holds.ts';
import type { Domain, Kind, TimerInfo, TimerStart, TimerWait } from '../registry/registry.ts';
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
  timer.when === undefined ? and() : resolve(domain, kind, timer.when);

/** Whether an event may change the due time though it does not start the timer. */
export const followsFields = ({ starts }: TimerInfo): boolean => 'at' in starts || 'by' in starts.wait;

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
  { name, starts }: TimerInfo,
  history: readonly Moment[],
  paused: (state: AggregateState) => boolean,
): TimerState | undefined =>
  'at' in starts ? stateByField(name, starts, history) : stateByEvent(name, starts, { history, paused });

/** The latest change of the field counts. A time that has passed by then is due at once. */
const stateByField = (
  name: string,
  { at, beforeMs, keep }: Extract<TimerStart, { at: string }>,
  history: readonly Moment[],
): TimerState | undefined => {
  let timerState: TimerState | undefined;
  let known: unknown = null;
  for (const { id, atMs, state } of history) {
    const time = fieldOf(state, at);
    if (time === known) continue;
    known = time;
    const atTimeMs = keep === undefined ? Date.parse(String(time)) - beforeMs : keptUntilMs(time, keep);
    timerState = time === null ? undefined : { name, cause: id, dueMs: Math.max(atTimeMs, atMs) };
  }
  return keep === undefined ? timerState : pausedByHold(timerState, history.at(-1));
};

/** An aggregate that must be kept ends after the release of its holds. */
const pausedByHold = (
  timerState: TimerState | undefined,
  last: Moment | undefined,
): TimerState | undefined => {
  if (timerState === undefined || last === undefined || !('dueMs' in timerState)) return timerState;
  const { name, cause, dueMs } = timerState;
  return fieldOf(last.state, 'held') === true
    ? { name, cause, leftMs: Math.max(dueMs - last.atMs, 0) }
    : timerState;
};

type Run = {
  readonly cause: EventId;
  waitMs: number;
  spentMs: number;
  /** The start of the running period; undefined while paused. */
  sinceMs: number | undefined;
  /** The last change of the wait: a shorter one may have passed already. */
  changedMs: number;
};

const stateByEvent = (
  name: string,
  { after, wait }: Extract<TimerStart, { after: unknown }>,
  { history, paused }: { history: readonly Moment[]; paused: (state: AggregateState) => boolean },
): TimerState | undefined => {
  let run: Run | undefined;
  for (const { id, type, atMs, state } of history) {
    if (after.includes(type)) run = { cause: id, waitMs: 0, spentMs: 0, sinceMs: undefined, changedMs: atMs };
    // A timer that ran out before stays due.
    if (run === undefined || dueMsOf(run) <= atMs) continue;
    const waitMs = waitMsIn(wait, state);
    if (waitMs !== run.waitMs) [run.waitMs, run.changedMs] = [waitMs, atMs];
    if (!paused(state)) run.sinceMs ??= atMs;
    else if (run.sinceMs !== undefined)
      [run.spentMs, run.sinceMs] = [run.spentMs + Math.max(atMs - run.sinceMs, 0), undefined];
  }
  if (run === undefined || run.waitMs === Number.POSITIVE_INFINITY) return undefined;
  const { cause, sinceMs } = run;
  return sinceMs === undefined
    ? { name, cause, leftMs: leftMsOf(run) }
    : { name, cause, dueMs: dueMsOf(run) };
};

const leftMsOf = ({ waitMs, spentMs }: Run): number => Math.max(waitMs - spentMs, 0);

const dueMsOf = (run: Run): number =>
  run.sinceMs === undefined ? Number.POSITIVE_INFINITY : Math.max(run.sinceMs + leftMsOf(run), run.changedMs);

const waitMsIn = (wait: TimerWait, state: AggregateState): number =>
  'ms' in wait ? wait.ms : (waitOfWord(wait.msOf, fieldOf(state, wait.by)) ?? Number.POSITIVE_INFINITY);

const waitOfWord = (msOf: Readonly<Record<string, number>>, word: unknown): number | undefined =>
  typeof word === 'string' && Object.hasOwn(msOf, word) ? msOf[word] : undefined;

const fieldOf = (state: AggregateState, name: string): unknown =>
  state.status === 'present' ? (state.fields[name] ?? null) : null;

/** The state of an aggregate at a time, by the times of its events. */
export const stateAt = (history: readonly Moment[], atMs: number): AggregateState =>
  history.findLast((moment) => moment.atMs <= atMs)?.state ?? ABSENT;
