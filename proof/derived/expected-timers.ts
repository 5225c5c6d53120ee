import type { EventId, Position, StreamName } from '#kernel/base/brands.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import { ABSENT, type AggregateState } from '#kernel/decide/state.ts';
import { type Moment, type TimerState, timerStatesOf } from '#kernel/decide/timers.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { MalformedEvent } from '#shared/events/errors.ts';
import type { DerivedFinding } from '#shared/rest/verification-report.ts';
import { type FollowingDependencies, kindOf, type StreamHistory } from './expected-references.ts';

export type FoundTimers = {
  readonly reached: Position;
  /** Earlier events led to nothing by the present declaration. */
  readonly actsAfter: Position;
  readonly nowMs: number;
  readonly timers: Readonly<Record<string, FoundTimer>>;
  /** The events that started timers that have run out. */
  readonly spent: Readonly<Record<string, EventId>>;
  /** Whether the process manager has yet to look at them. */
  readonly isPending: boolean;
};

type FoundTimer = {
  readonly causeId: EventId;
  readonly dueMs: number | null;
  readonly leftMs: number | null;
};

const TABLE = 'process_manager.timer';
const SPENT = 'process_manager.spent_timer';
/** A timer that is due by then may have run out by the clock of another process. */
const CLOCKS_DIFFER_MS = 60_000;
/** The database keeps times in microseconds. */
const SAME_MS = 1;

/**
 * Compares the timers of an aggregate with those that follow from its history, unless the process manager has
 * not computed them yet. Of one that is due, nothing shows whether its command was refused.
 */
export const compareTimers = async (
  dependencies: FollowingDependencies,
  stream: StreamName,
  found: FoundTimers & { readonly history: StreamHistory },
): Promise<readonly DerivedFinding[]> => {
  const { domain } = dependencies;
  const kind = kindOf(domain, stream);
  if (kind === undefined || found.isPending || Object.keys(kind.timers).length === 0) return [];
  if (found.history.lastPosition > found.reached) return [];
  const isOver = found.history.isEnded && Object.keys(found.timers).length === 0;
  const history = isOver ? [] : await momentsOf(dependencies, kind, found.history.events);
  if (history === undefined) return [];
  const expected = new Map(timerStatesOf(domain, kind, history).map((each) => [each.name, each]));
  const about = { stream, version: null, position: null };
  const names = new Set([...expected.keys(), ...Object.keys(found.timers)]);
  return [...names].flatMap((name): readonly DerivedFinding[] => {
    const [state, row] = [expected.get(name), found.timers[name]];
    const key = `${stream} ${name}`;
    if (state === undefined) return [{ kind: 'derived_extra', table: TABLE, key, columns: [], ...about }];
    const isSpent = found.spent[name] === state.cause;
    const isToCome = 'leftMs' in state || state.dueMs > found.nowMs + CLOCKS_DIFFER_MS;
    if (isSpent && isToCome && startedAt(history, state) > found.actsAfter)
      return [{ kind: 'derived_extra', table: SPENT, key, columns: [], ...about }];
    if (row === undefined)
      return isToCome && !isSpent
        ? [{ kind: 'derived_missing', table: TABLE, key, columns: [], ...about }]
        : [];
    const columns = differing(state, row);
    return columns.length === 0 ? [] : [{ kind: 'derived_different', table: TABLE, key, columns, ...about }];
  });
};

type Remembered = Moment & { readonly position: Position };

/** Undefined if it cannot be read: then the timers are parked. */
const momentsOf = async (
  { codec, domain }: FollowingDependencies,
  kind: Kind,
  events: readonly RecordedEvent[],
): Promise<readonly Remembered[] | undefined> => {
  const { evolve } = deciderOf(domain, kind);
  let state: AggregateState = ABSENT;
  try {
    return (await codec.decodeAll(events)).map((event) => {
      const { type, metadata, position } = event;
      state = evolve(state, event);
      return { id: event.id as EventId, type, atMs: Date.parse(metadata.at), state, position };
    });
  } catch (error) {
    if (error instanceof MalformedEvent) return undefined;
    throw error;
  }
};

const startedAt = (history: readonly Remembered[], { cause }: TimerState): Position =>
  history.find(({ id }) => id === cause)?.position ?? (0 as Position);

const differing = (state: TimerState, { causeId, dueMs, leftMs }: FoundTimer): string[] => {
  const [due, left] = 'dueMs' in state ? [state.dueMs, null] : [null, state.leftMs];
  return [
    ...(causeId === state.cause ? [] : ['cause_id']),
    ...(isNear(due, dueMs) ? [] : ['due_at']),
    ...(isNear(left, leftMs) ? [] : ['left_ms']),
  ];
};

const isNear = (one: number | null, other: number | null): boolean =>
  one === null || other === null ? one === other : Math.abs(one - other) <= SAME_MS;
