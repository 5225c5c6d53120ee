import type { Position, Version } from '#kernel/base/brands.ts';
import type { State } from '#kernel/conditions/holds.ts';
import type { Watch } from '#kernel/visibility/watches.ts';
import { NO_STREAM, type RecordedEvent, START } from '../event-log/event-log.ts';
import type { Catalogue } from '../events/catalogue.ts';
import { type ClearEvent, decodeClear } from '../events/decode-clear.ts';
import type { Fold, Snapshot } from '../snapshots/snapshots.ts';

/**
 * The clear event is missing if the event is damaged. A damaged event counts only as far as its type shows
 * its effect on the aggregate.
 */
export type Seen = { readonly event: RecordedEvent; readonly clear: ClearEvent | undefined };

/**
 * The part of an aggregate’s state that read rights depend on, at any position after `from` and up to `upTo`,
 * by the positions at which it changed.
 */
export type History = {
  readonly from: Position;
  upTo: Position;
  /** The version of the last event that this history includes. */
  version: Version;
  /** The fields that never change, as soon as an event has stated them. */
  fixed: State | undefined;
  isOver: boolean;
  /** In steps; kept lists count too. */
  weight: number;
  readonly steps: { readonly position: Position; readonly state: State }[];
};

/** The state just before a position; undefined if there was no such aggregate. */
export const stateBefore = ({ fixed, steps }: History, position: Position): State | undefined => {
  const step = steps.findLast((each) => each.position < position);
  return step && { ...fixed, ...step.state };
};

/** The immutable fields that an event states; they hold ids, or null if they are optional. */
export const fixedIn = ({ fixed }: Watch, data: Readonly<Record<string, unknown>>): State => {
  const found: Record<string, unknown> = {};
  for (const [field, key] of fixed)
    if (data[key] === null || Number.isSafeInteger(data[key])) found[field] = data[key];
  return found;
};

/** For most changes the type is enough, so those need no decoding. */
export const seeFor = (catalogue: Catalogue, { folds }: Watch, event: RecordedEvent): Seen => ({
  event,
  clear: folds.get(event.type)?.takesData ? decodeClear(catalogue, event) : undefined,
});

export const rightsFoldOf = ({ definition }: Watch): Fold => ({ fold: 'rights', definition });

/** A history after its last event, as a snapshot stores it. It holds no personal data. */
type Stored = { readonly fixed: State; readonly state: State; readonly isOver: boolean };

/** No snapshot if the history is incomplete because an event is damaged. */
export const snapshotOf = (
  history: History,
  watch: Watch,
  { stream, version, position, id }: RecordedEvent,
): readonly Snapshot[] => {
  const { fixed, isOver } = history;
  const state = history.steps.at(-1)?.state;
  if (
    history.version !== version ||
    fixed === undefined ||
    state === undefined ||
    Object.values(state).includes(undefined)
  )
    return [];
  return [
    {
      ...rightsFoldOf(watch),
      stream,
      version,
      position,
      event: id,
      persons: [],
      state: { fixed, state, isOver } satisfies Stored,
    },
  ];
};

export const historyFrom = ({ version, position, state: stored }: Snapshot): History => {
  const { fixed, state, isOver } = stored as Stored;
  return {
    from: position,
    upTo: position,
    version,
    fixed,
    isOver,
    weight: weightOf(state),
    steps: [{ position, state }],
  };
};

/** The snapshots of one stream at some of its versions, folded from its first event. */
export const createRightsFold = (watch: Watch, catalogue: Catalogue) => {
  const history = nothingKnown(START);
  return {
    take: (event: RecordedEvent) => takeEvent(history, watch, seeFor(catalogue, watch, event)),
    stateAfter: (event: RecordedEvent): unknown => snapshotOf(history, watch, event)[0]?.state,
  };
};

export const nothingKnown = (from: Position): History => ({
  ...{ from, upTo: from, version: NO_STREAM, fixed: undefined },
  ...{ isOver: false, weight: 0, steps: [] },
});

/** Appends the change of an event; an event that the history already includes changes nothing. */
export const takeEvent = (
  history: History,
  watch: Watch,
  { event: { position, version, type, data }, clear }: Seen,
): void => {
  if (position <= history.upTo) return;
  history.upTo = position;
  history.version = version;
  history.fixed ??= whole(watch, fixedIn(watch, data));
  const fold = watch.folds.get(type);
  if (fold === undefined) return;
  const before = history.steps.at(-1)?.state;
  const state = fold.apply(before, clear);
  history.isOver ||= fold.isEnd;
  if (state === undefined || (before !== undefined && !isDifferent(before, state))) return;
  history.steps.push({ position, state });
  history.weight += weightOf(state);
};

/** This many references to items weigh as much as a step. */
const ITEMS_PER_STEP = 16;
const weightOf = (state: State): number =>
  Object.values(state).reduce(
    (sum: number, value) => sum + (Array.isArray(value) ? Math.ceil(value.length / ITEMS_PER_STEP) : 0),
    1,
  );

/** Every event states these fields; one that does not is damaged. */
const whole = ({ fixed }: Watch, found: State): State | undefined =>
  Object.keys(found).length === fixed.length ? found : undefined;

const isDifferent = (one: State, other: State): boolean => {
  const names = Object.keys(other);
  return names.length !== Object.keys(one).length || names.some((name) => one[name] !== other[name]);
};
