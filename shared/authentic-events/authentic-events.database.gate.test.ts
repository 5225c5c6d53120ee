import { expect } from 'vitest';
import type { StreamName } from '#kernel/base/brands.ts';
import { type EventLog, NO_STREAM, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { type AuthenticPlace, ourEvent, test, thing } from '../../test/engines/authentic-log.ts';

const allOf = async (log: EventLog): Promise<readonly RecordedEvent[]> =>
  (await log.page?.(START, 100)) ?? [];

const typesOf = async (log: EventLog): Promise<readonly string[]> =>
  (await allOf(log)).map(({ type }) => type);

const REFUSED = 'event.not_authentic';

/** Two events of one stream, and one of another. */
const fill = async (log: EventLog): Promise<StreamName> => {
  const stream = thing();
  await log.append(stream, NO_STREAM, [ourEvent({ n: 1 }), ourEvent({ n: 2 })]);
  await log.append(thing(), NO_STREAM, [ourEvent({ n: 3 })]);
  return stream;
};

/** The types that a process reads that has just started. */
const typesAnew = async (place: AuthenticPlace): Promise<readonly string[]> => {
  await using opened = await place.open();
  return typesOf(opened.eventLog);
};

test('every event of a new log has a MAC, and counts', async ({ place }) => {
  await using opened = await place.open();
  const stream = await fill(opened.eventLog);
  await opened.eventLog.append(stream, 'any', [ourEvent({ n: 4 })]);
  const { rows } = await place.pool.query('select position from event_log.event where mac is null');
  expect(rows).toEqual([]);
  expect(await typesAnew(place)).toEqual(Array.from({ length: 4 }, () => 'thing.noted'));
  await opened.authentic.check();
});

test('appends that expect any version are stored at once, in order', async ({ place }) => {
  await using opened = await place.open();
  await using other = await place.open();
  const stream = thing();
  await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      (n % 2 === 0 ? opened : other).eventLog.append(stream, 'any', [ourEvent({ n }), ourEvent({ n })]),
    ),
  );
  const events = (await Array.fromAsync(opened.eventLog.read(stream))).flat();
  expect(events.map((event) => event.version)).toEqual(Array.from({ length: 80 }, (_, n) => n + 1));
  expect(new Set(await typesAnew(place))).toEqual(new Set(['thing.noted']));
});

test.for<readonly [name: string, statement: string, refused: readonly number[]]>([
  ['an inserted event', insert(`'thing-9', 1, gen_random_uuid(), type, data, metadata, bytes, null`), [4]],
  [
    'an event with the MAC of another',
    insert(`'thing-9', 1, gen_random_uuid(), type, data, metadata, bytes, mac`),
    [4],
  ],
  [
    'a copy in another version',
    insert('stream, 3, gen_random_uuid(), type, data, metadata, bytes, mac'),
    [4],
  ],
  ['changed data', `update event_log.event set data = '{"n":7}' where position = 2`, [2]],
  [
    'changed metadata',
    `update event_log.event set metadata = replace(metadata::text, 'user:1', 'user:2')::json where position = 2`,
    [2],
  ],
  ['another type', `update event_log.event set type = 'thing.gone' where position = 2`, [2]],
  ['another stream', `update event_log.event set stream = 'thing-9' where position = 3`, [3]],
  ['another id', 'update event_log.event set id = gen_random_uuid() where position = 3', [3]],
  ['a removed MAC', 'update event_log.event set mac = null where position = 2', [2]],
  [
    'exchanged contents',
    `update event_log.event e set data = o.data, metadata = o.metadata, mac = o.mac from event_log.event o where (e.position, o.position) in ((1, 2), (2, 1))`,
    [1, 2],
  ],
  ['all MACs removed', 'update event_log.event set mac = null', [1, 2, 3]],
])('%s is no event of ours', async ([, statement, refused], { place }) => {
  {
    await using opened = await place.open();
    await fill(opened.eventLog);
  }
  await place.tamper(statement);
  await using opened = await place.open();
  const events = await allOf(opened.eventLog);
  expect(events.filter(({ type }) => type === REFUSED).map(({ position }) => position)).toEqual(refused);
  expect(
    events.filter(({ type }) => type === REFUSED).every(({ data }) => Object.keys(data).length === 0),
  ).toBe(true);
  await expect(opened.authentic.check()).rejects.toThrow(`at position ${refused[0]}`);
  expect(place.lines.errors).toHaveLength(refused.length);
  for (const position of refused) {
    const [event] = events.slice(position - 1);
    const [page = []] = await Array.fromAsync(opened.eventLog.read(event?.stream as StreamName));
    expect(page.find((each) => each.position === position)?.type).toBe(REFUSED);
  }
});

function insert(values: string): string {
  return `insert into event_log.event (position, stream, version, id, type, data, metadata, bytes, mac)
    select 4, ${values} from event_log.event where position = 2`;
}

test('an event of another log with the same master key does not count', async ({ place }) => {
  await using opened = await place.open();
  await fill(opened.eventLog);
  await place.tamper('update event_log.identity set id = gen_random_uuid()');
  await expect(place.open()).rejects.toThrow('Events of the log have MACs');
});

test('a process follows other processes, and checks what they have appended', async ({ place }) => {
  await using opened = await place.open();
  await using other = await place.open();
  await fill(opened.eventLog);
  const ended = new AbortController();
  const pages = other.eventLog.follow(START, ended.signal)[Symbol.asyncIterator]();
  const [first] = [(await pages.next()).value];
  expect(first?.map(({ type }: RecordedEvent) => type)).toEqual([
    'thing.noted',
    'thing.noted',
    'thing.noted',
  ]);
  await place.tamper(insert(`'thing-9', 1, gen_random_uuid(), type, data, metadata, bytes, mac`));
  const [second] = [(await pages.next()).value];
  expect(second?.map(({ type }: RecordedEvent) => type)).toEqual([REFUSED]);
  ended.abort();
  expect((await pages.next()).done).toBe(true);
});

test('a record that has no form of ours stays a foreign record', async ({ place }) => {
  await using opened = await place.open();
  await fill(opened.eventLog);
  await place.tamper(insert(`'thing-9', 1, gen_random_uuid(), 'order.placed', '[1]', 'null', 5, null`));
  expect((await allOf(opened.eventLog)).at(-1)).toMatchObject({
    type: 'event.foreign_record',
    metadata: { foreign: { type: 'order.placed', data: { form: 'a list' }, metadata: { form: 'null' } } },
  });
  await opened.authentic.check();
});

test('neither a removed nor a forged row sets back since when events are authentic', async ({ place }) => {
  {
    await using opened = await place.open();
    await fill(opened.eventLog);
  }
  await place.tamper('update event_log.event set mac = null where position = 2');
  for (const statement of [
    'delete from public.authentic_events',
    `update public.authentic_events set statement = replace(statement, '"from":0', '"from":9')`,
    `update public.authentic_events set mac = '\\x00'`,
  ]) {
    await place.pool.query(statement);
    expect(await typesAnew(place)).toEqual(['thing.noted', REFUSED, 'thing.noted']);
    expect((await place.pool.query('select from public.authentic_events')).rowCount).toBe(1);
  }
});

test('without any record, a log with MACs is not opened', async ({ place }) => {
  {
    await using opened = await place.open();
    await fill(opened.eventLog);
  }
  await place.pool.query('delete from public.authentic_events');
  await expect(place.open({ auditDir: `${place.auditDir}-other` })).rejects.toThrow(
    'Events of the log have MACs',
  );
});

test('all MACs and the row are removed, but the folder of the audit knows', async ({ place }) => {
  {
    await using opened = await place.open();
    await fill(opened.eventLog);
  }
  await place.pool.query('delete from public.authentic_events');
  await place.tamper('update event_log.event set mac = null');
  expect(await typesAnew(place)).toEqual([REFUSED, REFUSED, REFUSED]);
});

test('a process that only reads writes nothing', async ({ place }) => {
  {
    await using opened = await place.open();
    await fill(opened.eventLog);
  }
  await place.pool.query('delete from public.authentic_events');
  await using reader = await place.open({ isReader: true });
  expect(await typesOf(reader.eventLog)).not.toContain(REFUSED);
  expect((await place.pool.query('select from public.authentic_events')).rowCount).toBe(0);
});
