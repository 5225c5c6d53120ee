import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line, ref } from '#kernel/declare/fields.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { formatSeed, seededEventId } from '#shared/events/reservation.ts';
import { wantedStreams } from './wanted-streams.ts';

const base = domain({ name: 'desk', roles: ['clerk'], user: { read: { signedIn: true } } });
const rights = { read: { signedIn: true }, write: { clerk: true } } as const;
const shelf = base.aggregate('shelf', {
  fields: { name: line(20), keeper: ref(base.user) },
  owner: 'keeper',
  events: { made: { creates: ['name'] } },
  commands: { make: { emits: 'made' } },
  rights,
});
const folder = base.aggregate('folder', {
  fields: { name: line(20), shelf: ref(shelf) },
  parent: 'shelf',
  events: { made: { creates: ['name'] }, moved: { moves: 'shelf' } },
  commands: { make: { emits: 'made' }, move: { emits: 'moved' } },
  rights,
});
const desk = assemble(base, [shelf, folder]);

const SENDER = 'system:inbox-bank';
/** Their shelves have the same numbers. */
const [TENANT, OTHER] = [1, 2];

/** A log in the order in which it is called. */
const logOf = () => {
  const events: RecordedEvent[] = [];
  const versions = new Map<string, number>();
  const add = (
    stream: string,
    type: string,
    data: JsonObject = {},
    more: { actor?: string; id?: string } = {},
  ) => {
    const { actor = 'user:9', id = randomUUID() } = more;
    const version = (versions.get(stream) ?? 0) + 1;
    versions.set(stream, version);
    const position = events.length + 1;
    events.push({ stream, type, data, id, version, position, metadata: { actor } } as never);
  };
  return {
    events,
    add,
    shelf: (keeperId: number) => add(`shelf-${keeperId}`, 'shelf.made', { name: 'x', keeperId }),
    folder: (id: number, shelfId: number) => add(`folder-${id}`, 'folder.made', { name: 'x', shelfId }),
    /** A message to an item, carried out or cut off after its event. */
    message(key: string, item: number | undefined, { ends = true, changes = true } = {}) {
      const [stream, eventSeed] = [`command-${key}`, randomUUID()];
      add(stream, 'command.reserved', { seed: formatSeed({ eventSeed, firstId: 7 }) }, { actor: SENDER });
      if (changes && item !== undefined)
        add(`folder-${item}`, 'folder.renamed', {}, { actor: SENDER, id: seededEventId(eventSeed, 0) });
      const outcome = item === undefined ? { refused: { code: 'forbidden' } } : { done: { id: item } };
      if (ends) add(stream, 'command.completed', { outcome }, { actor: SENDER });
    },
  };
};

/** The selected streams of kind `command`, with the number of their events, by pages of some events. */
const reservationsOf = (events: readonly RecordedEvent[], page: number, { withOwned = true } = {}) => {
  const wanted = wantedStreams({ domain: desk, list: `user-${TENANT}`, withOwned });
  const selected = new Map<string, number>();
  const late: string[] = [];
  for (let from = 0; from < events.length; from += page) {
    const found = wanted.select(events.slice(from, from + page));
    for (const stream of found.late) {
      late.push(stream);
      const upTo = events.slice(0, from + page).filter((event) => event.stream === stream);
      selected.set(stream, upTo.length);
    }
    for (const { stream } of found.events)
      if (!found.late.has(stream)) selected.set(stream, (selected.get(stream) ?? 0) + 1);
  }
  expect(new Set(late).size).toBe(late.length);
  return Object.fromEntries([...selected].filter(([stream]) => stream.startsWith('command-')).toSorted());
};

test.for([1, 2, 3, 100])('the reservations of messages move with their items, by pages of %i', (page) => {
  const log = logOf();
  log.shelf(TENANT);
  log.shelf(OTHER);
  log.folder(11, TENANT);
  log.folder(12, OTHER);
  log.message('mine', 11);
  log.message('other', 12);
  log.message('cut', 11, { ends: false });
  log.message('begun', 11, { ends: false, changes: false });
  log.message('unchanged', 11, { changes: false });
  log.message('refused', undefined);
  // The tenant gets another folder, whose messages have passed.
  log.folder(13, OTHER);
  log.message('earlier', 13);
  log.message('earlier-cut', 13, { ends: false });
  log.add('folder-13', 'folder.moved', { shelfId: TENANT });
  log.message('later', 13);
  expect(reservationsOf(log.events, page)).toEqual({
    ...{ 'command-cut': 1, 'command-earlier': 2, 'command-earlier-cut': 1 },
    ...{ 'command-later': 2, 'command-mine': 2, 'command-unchanged': 2 },
  });
  expect(reservationsOf(log.events, page, { withOwned: false })).toEqual({});
});

test('a seed that is no seed, and the outcome of another release, select nothing', () => {
  const log = logOf();
  log.shelf(TENANT);
  log.folder(11, TENANT);
  for (const data of [{}, { seed: 7 }, { seed: 'x/1' }, { seed: '' }])
    log.add(`command-${log.events.length}`, 'command.reserved', data, { actor: SENDER });
  for (const outcome of [null, 7, [], { done: null }, { done: { id: '11' } }, {}])
    log.add(`command-${log.events.length}`, 'command.completed', { outcome }, { actor: SENDER });
  log.add('command-user', 'command.completed', { outcome: { done: { id: 11 } } });
  expect(reservationsOf(log.events, 2)).toEqual({});
});
