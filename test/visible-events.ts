// Over 200 lines, because it is one property: arbitrary histories, and which of their events a follower
// receives.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EventId, Position, Version } from '#kernel/base/brands.ts';
import { storeMetadata } from '#kernel/base/events/metadata.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { wire } from '#kernel/base/names.ts';
import type { Find, State } from '#kernel/conditions/holds.ts';
import { rightsOf } from '#kernel/conditions/rights.ts';
import { evolveOf } from '#kernel/decide/evolve.ts';
import { ABSENT, type AggregateState } from '#kernel/decide/state.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import type { Domain, EventInfo, Kind, ListInfo } from '#kernel/registry/registry.ts';
import { maySee as maySeeInMemory, type Occurrence } from '#kernel/visibility/may-see.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { createChangeReader } from '#shared/change-stream/changes.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { memoryKeyStore } from '#shared/keys/memory/key-store.ts';
import { maySee } from '#shared/visibility/may-see.ts';
import { askersOf, callerOf, randomOf } from '../testing/describe-domain/readings.ts';
import { context } from './codec-fixture.ts';

/**
 * The events that a follower receives, for any domain: exactly those that the condition makes visible,
 * evaluated in memory on the states before and after, for any pages, any start, and any eviction of earlier
 * states.
 */
const IDS = 4;
const HISTORIES = 30;

type Step = {
  readonly kind: Kind;
  readonly event: EventInfo;
  readonly id: number;
  readonly values: State;
  readonly mask: number;
  /** For an event of an item: the item that it may add, change or remove. */
  readonly item: State;
};
type Happened = { readonly recorded: RecordedEvent; readonly occurrence: Occurrence; readonly find: Find };

/** Without kinds of users, except for their roles: their names are encrypted. */
const stepOf = (domain: Domain): fc.Arbitrary<Step> => {
  const events = Object.values(domain.kinds).flatMap((kind) =>
    Object.values(kind.events).flatMap((event) => (kind.name === 'user' ? [] : [{ kind, event }])),
  );
  return fc.constantFrom(...events).chain(({ kind, event }) => {
    const fields = Object.entries(kind.fields).flatMap(([name, def]) => {
      const value =
        def.kind === 'upload'
          ? fc.constant(null)
          : def.kind === 'ref'
            ? fc.integer({ min: 1, max: IDS })
            : randomOf(def);
      return def.kind === 'list'
        ? []
        : [[name, def.optional ? fc.option(value, { freq: 4 }) : value] as const];
    });
    return fc
      .record({
        id: fc.integer({ min: 1, max: IDS }),
        values: fc.record(Object.fromEntries(fields)),
        mask: fc.nat(255),
        item: event.list === undefined ? fc.constant({}) : itemOf(event.list),
      })
      .map((rest) => ({ kind, event, ...rest }));
  });
};

/** Few of them, so that most changed or removed ones exist. */
const itemOf = ({ fields, id }: ListInfo): fc.Arbitrary<State> => {
  const random = (def: FieldDef) => (def.kind === 'ref' ? fc.integer({ min: 1, max: IDS }) : randomOf(def));
  const values = Object.entries(fields).map(
    ([name, def]) => [wire(name, def), def.optional ? fc.option(random(def)) : random(def)] as const,
  );
  const known =
    id.def.kind === 'ref' || id.def.kind === 'integer' ? fc.integer({ min: 1, max: IDS }) : randomOf(id.def);
  return fc.record({ [id.name]: known, ...Object.fromEntries(values) });
};

/** Skips impossible steps, and folds the others. */
const happen = (domain: Domain, steps: readonly Step[]): readonly Happened[] => {
  const states = new Map<string, AggregateState>();
  const folds = new Map(Object.values(domain.kinds).map((kind) => [kind.name, evolveOf(kind)]));
  const all: Happened[] = [];
  for (const step of steps) {
    const { kind, event, id, values, mask } = step;
    const stream = streamName(kind.name, id);
    const before = states.get(stream) ?? ABSENT;
    if (event.effect === 'creates' ? before.status !== 'absent' : before.status !== 'present') continue;
    if (itemIn(before, step) === undefined) continue;
    const fields = before.status === 'absent' ? values : before.fields;
    const isPartial = event.effect === 'changes' && event.content.length > 1;
    const given = event.content.filter(
      (name, index) =>
        kind.fields[name]?.personal === undefined && (!isPartial || (mask & (1 << index)) !== 0),
    );
    const data: Record<string, unknown> = { [`${kind.name}Id`]: id, ...itemIn(before, step) };
    for (const name of [...kind.identity, ...event.carries])
      data[wire(name, kind.fields[name])] = fields[name];
    for (const name of given) data[wire(name, kind.fields[name])] = values[name];
    const metadata = storeMetadata(event.version, context);
    const after =
      folds.get(kind.name)?.(before, {
        type: event.type,
        data,
        metadata: { at: context.at, actor: context.actor },
      }) ?? ABSENT;
    const then = new Map(states);
    states.set(stream, after);
    const stateOf = (state: AggregateState | undefined) =>
      state === undefined || state.status === 'absent' ? undefined : state.fields;
    all.push({
      recorded: {
        ...{
          stream,
          id: `${all.length + 1}` as EventId,
          type: event.type,
          recordedAt: new Date(0),
          metadata,
          data: data as JsonObject,
        },
        ...{ position: (all.length + 1) as Position, version: 1 as Version },
      },
      occurrence: {
        kind: kind.name,
        event: event.name,
        data,
        before: stateOf(before),
        after: stateOf(after),
      },
      find: (of, other) => stateOf(then.get(streamName(of, Number(other)))),
    });
  }
  return all;
};

const OLD_FROM = 200;

/** The data of an event about an item; undefined if that is impossible. */
const itemIn = (before: AggregateState, { event: { list, effect }, item, mask }: Step): State | undefined => {
  if (list === undefined) return {};
  const all = before.status === 'present' ? ((before.fields[list.name] ?? []) as readonly State[]) : [];
  const found = all.find(({ id }) => id === item[list.id.name]);
  if ((found !== undefined) === (effect === 'adds')) return undefined;
  if (found === undefined) return item;
  // Some predate the right that needs it.
  const settled = Object.fromEntries(
    list.settled.flatMap((name) => (mask > OLD_FROM ? [] : [[name, found[name]]])),
  );
  const given = Object.entries(effect === 'updates' ? item : {}).filter(
    ([name]) => !list.settled.includes(name),
  );
  return { ...Object.fromEntries(given), [list.id.name]: found.id, ...settled };
};

type Following = { readonly from: number; readonly pages: readonly number[]; readonly stepsMax: number };

const follow = async (
  domain: Domain,
  happened: readonly Happened[],
  { from, pages, stepsMax }: Following,
): Promise<readonly Change[]> => {
  const all = happened.map(({ recorded }) => recorded);
  const eventLog: Pick<EventLog, 'read'> = {
    async *read(stream) {
      yield all.filter((each) => each.stream === stream);
    },
  };
  await using keys = memoryKeyStore();
  const pool = { query: async () => ({ rows: [] }) } as never;
  const reader = createChangeReader({ domain, eventLog, keys, pool, stepsMax });
  const changes: Change[] = [];
  const rest = all.slice(Math.floor(from * all.length));
  let after = (all.length - rest.length) as Position;
  for (let turn = 0; rest.length > 0; turn += 1) {
    const page = await reader.toPage(rest.splice(0, pages[turn % pages.length]), after);
    changes.push(...page.changes);
    after = page.upTo;
  }
  return changes;
};

export const describeVisibleEvents = (domain: Domain): void => {
  const followings = fc.record({
    from: fc.double({ min: 0, max: 0.9, noNaN: true }),
    pages: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
    stepsMax: fc.constantFrom(4, 12, 100_000),
  });
  test(`${domain.name}: a follower receives the events that are visible by the states before and after`, async () => {
    expect(rightsOf(domain).size).toBeGreaterThan(0);
    let visible = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(stepOf(domain), { minLength: 60, maxLength: 150 }),
        followings,
        async (steps, following) => {
          const happened = happen(domain, steps);
          const changes = await follow(domain, happened, following);
          const open = happened
            .slice(Math.floor(following.from * happened.length))
            .filter(({ occurrence: { kind, event } }) => {
              return domain.kinds[kind]?.events[event]?.hidden === false;
            });
          expect(changes.map(({ position }) => position)).toEqual(
            open.map(({ recorded }) => recorded.position),
          );
          for (const [index, change] of changes.entries()) {
            const { occurrence, find } = open[index] as Happened;
            for (const asker of askersOf(domain)) {
              const wanted = maySeeInMemory(domain, occurrence, asker, find);
              const isVisible = maySee(callerOf(domain, asker), change);
              if (isVisible) visible += 1;
              expect({ isVisible, asker, occurrence, change }).toEqual({
                isVisible: wanted,
                asker,
                occurrence,
                change,
              });
            }
          }
        },
      ),
      { numRuns: HISTORIES },
    );
    expect(visible).toBeGreaterThan(HISTORIES);
  });
};
