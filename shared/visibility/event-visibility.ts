import type { EventId, Position, StreamName } from '#kernel/base/brands.ts';
import type { EventDefinition } from '#kernel/base/events/define-event.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import type { Operation } from '#kernel/base/operation.ts';
import type { Facts } from '#kernel/conditions/facts.ts';
import type { Find, State } from '#kernel/conditions/holds.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type Parents, type TypeVisibility, visibilityOf } from '#kernel/visibility/visibility.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import type { ClearEvent } from '#shared/events/decode-clear.ts';
import type { FindOpened } from './changed-fields.ts';
import type { Histories, Span } from './histories.ts';
import { fixedIn, type History, type Seen, stateBefore } from './history.ts';

/**
 * The visibility of an event: a caller may see it if this right holds with these facts, or held with the
 * former ones.
 */
type EventVisibility = { readonly right: Operation; readonly resource: Facts; readonly former?: Facts };
/** Never called with damaged events. */
type FindVisibility = (seen: Seen) => EventVisibility;

type Sources = {
  readonly domain: Domain;
  readonly histories: Histories;
  readonly findOpened: FindOpened;
  /** Read instead of the log of the histories if a history is not cached. */
  readonly eventLog?: Pick<EventLog, 'read'> | undefined;
};

/** Looks up everything that the visibility of these events depends on, in one go. */
export const prepareVisibility = async (
  { domain, histories, findOpened, eventLog }: Sources,
  seen: readonly Seen[],
): Promise<FindVisibility> => {
  const catalogue = catalogueOf(domain);
  const { types } = visibilityOf(domain);
  const [known, opened] = await Promise.all([
    findHistories({ domain, histories, eventLog }, seen),
    findOpened(seen),
  ]);
  return ({ event, clear }) => {
    const type = types.get(event.type);
    if (clear === undefined)
      throw new Error(`the event ${event.id} is damaged, so nobody can decide who may see it`);
    if (type === undefined) return visibilityOfKernel(catalogue.find(event.type), clear);
    return visibilityOfDomain(type, { event, clear }, { known, opened });
  };
};

/** Kernel events are visible to the users they affect, and to administrators. */
const visibilityOfKernel = (
  definition: EventDefinition | undefined,
  { data }: ClearEvent,
): EventVisibility => {
  const visibleTo = definition?.visibleTo;
  if (visibleTo === undefined) throw new Error(`${definition?.type} declares no visibility`);
  const ownerId = data[visibleTo.owner];
  return { right: visibleTo.right, resource: typeof ownerId === 'number' ? { ownerId } : {} };
};

type Found = {
  readonly known: ReadonlyMap<StreamName, History>;
  readonly opened: ReadonlyMap<EventId, ClearEvent['data']>;
};
type SeenClear = Seen & { readonly clear: ClearEvent };

const visibilityOfDomain = (
  type: TypeVisibility,
  { event, clear }: SeenClear,
  { known, opened }: Found,
): EventVisibility => {
  const right = type.rightTo(opened.get(event.id) ?? clear.data);
  const { before, after } = statesOf(type, { event, clear }, known);
  const find = findAt(known, event.position);
  const resource = type.of.factsOf(after, find);
  if (before === undefined) return { right, resource };
  const former = type.of.factsOf(before, find);
  if (type.of.covers(right, resource, former)) return { right, resource };
  return type.of.covers(right, former, resource) ? { right, resource: former } : { right, resource, former };
};

/** The state before the event, if the right depends on it, and the state after it. */
const statesOf = (
  { of: { kind, watch }, asksBefore }: TypeVisibility,
  { event, clear }: SeenClear,
  known: ReadonlyMap<StreamName, History>,
): { readonly before: State | undefined; readonly after: State } => {
  const id = clear.data[`${kind.name}Id`];
  const fixed = watch && fixedIn(watch, clear.data);
  const history = asksBefore ? known.get(event.stream) : undefined;
  const before = history && stateBefore(history, event.position);
  // For most kinds, rights depend only on fields that every event states.
  const after =
    watch !== undefined && watch.fields.size > 0
      ? (watch.folds.get(event.type)?.apply(before, clear) ?? before)
      : undefined;
  return { before: before && { ...before, ...fixed, id }, after: { ...after, ...fixed, id } };
};

/** Several facts of the same aggregate are looked up one after the other. */
const findAt = (known: ReadonlyMap<StreamName, History>, position: Position): Find => {
  let last: { readonly stream: StreamName; readonly state: State | undefined } | undefined;
  return (kind, id) => {
    const stream = streamName(kind, id as number);
    if (last?.stream === stream) return last.state;
    const history = known.get(stream);
    const state = history && stateBefore(history, position);
    last = { stream, state: state && { ...state, id } };
    return last.state;
  };
};

type Wanted = {
  readonly states: readonly (State | undefined)[];
  readonly parents: Parents;
  readonly position: Position;
};

/** Reference by reference, for all events at once. */
const findHistories = async (
  { domain, histories, eventLog }: Omit<Sources, 'findOpened'>,
  seen: readonly Seen[],
): Promise<ReadonlyMap<StreamName, History>> => {
  const { types } = visibilityOf(domain);
  const known = new Map<StreamName, History>();
  const spans = new Map<StreamName, Span>();
  const look = async (asked: readonly (readonly [StreamName, Position])[]): Promise<void> => {
    const wanted = new Map<StreamName, Span>();
    for (const [stream, position] of asked) {
      // Also covers the span that was requested earlier.
      const { after, upTo } = spans.get(stream) ?? { after: (position - 1) as Position, upTo: position };
      const span = {
        after: Math.min(after, position - 1) as Position,
        upTo: Math.max(upTo, position) as Position,
      };
      spans.set(stream, span);
      wanted.set(stream, span);
    }
    for (const [stream, history] of await histories.find(wanted, eventLog)) known.set(stream, history);
  };
  const typed = seen.flatMap(({ event, clear }): (readonly [TypeVisibility, SeenClear])[] => {
    const type = types.get(event.type);
    return type === undefined || clear === undefined ? [] : [[type, { event, clear }]];
  });
  await look(
    typed.flatMap(([{ asksBefore }, { event }]) =>
      asksBefore ? [[event.stream, event.position] as const] : [],
    ),
  );
  let wanted: readonly Wanted[] = typed.flatMap(([type, each]) => {
    if (type.of.parents.size === 0) return [];
    const { before, after } = statesOf(type, each, known);
    return [{ states: [before, after], parents: type.of.parents, position: each.event.position }];
  });
  while (wanted.length > 0) {
    const led = wanted.flatMap(leads);
    await look(led.map(({ stream, position }) => [stream, position]));
    wanted = led
      .filter(({ parents }) => parents.size > 0)
      .map(({ stream, position, parents }) => {
        const history = known.get(stream);
        return { states: [history && stateBefore(history, position)], parents, position };
      });
  }
  return known;
};

type Led = { readonly stream: StreamName; readonly position: Position; readonly parents: Parents };

const leads = ({ states, parents, position }: Wanted): readonly Led[] => {
  const led: Led[] = [];
  for (const [reference, there] of parents) {
    let seen: unknown;
    for (const state of states) {
      const id = state?.[reference];
      if (typeof id !== 'number' || id === seen) continue;
      seen = id;
      led.push({ stream: streamName(there.kind, id), position, parents: there.parents });
    }
  }
  return led;
};
