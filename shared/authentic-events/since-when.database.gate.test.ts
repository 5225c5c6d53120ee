// Over 200 lines, because it is one story: since when the events of a log need a MAC, from the upgrade on.
import { expect } from 'vitest';
import type { Position } from '#kernel/base/brands.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { type EventLog, NO_STREAM, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { renewIdentity } from '#shared/event-log/postgres/renew-identity.ts';
import { type AuthenticPlace, test as base, ourEvent, thing } from '../../test/engines/authentic-log.ts';
import { createTestClock } from '../../test/engines/test-clock.ts';
import { until } from '../../testing/until.ts';
import { decide, renewStatement } from './change-statement.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LOOK_MS = 60_000;
const REFUSED = 'event.not_authentic';

const allOf = async (log: EventLog): Promise<readonly RecordedEvent[]> =>
  (await log.page?.(START, 100)) ?? [];
const typesOf = async (log: EventLog): Promise<readonly string[]> =>
  (await allOf(log)).map(({ type }) => type);

/** Lets the events be stored two hours earlier, by the clock of the database. */
const age = ({ tamper }: AuthenticPlace) =>
  tamper(`update event_log.event set recorded_at = recorded_at - interval '2 hours'`);

const appendOne = (log: EventLog) => log.append(thing(), NO_STREAM, [ourEvent()]);

/** The positions after which events need MACs, by the row. */
const fromIn = async ({ pool }: AuthenticPlace): Promise<readonly Position[]> => {
  const { rows } = await pool.query<{ statement: string }>('select statement from public.authentic_events');
  return JSON.parse(rows[0]?.statement ?? '{}').epochs.map(({ from }: { from: Position }) => from);
};

/** A log with an event of a release without MACs, which still runs. */
const test = base.extend('former', async ({ place }, { onCleanup }) => {
  const former = await place.openFormer();
  onCleanup(() => former[Symbol.asyncDispose]());
  await appendOne(former);
  return former;
});

test('while processes of both releases run, the events of both count', async ({ former, place }) => {
  await using opened = await place.open();
  await appendOne(opened.eventLog);
  await appendOne(former);
  await using other = await place.open();
  for (const log of [former, opened.eventLog, other.eventLog])
    expect(await typesOf(log)).toEqual(['thing.noted', 'thing.noted', 'thing.noted']);
  expect(await fromIn(place)).toEqual([]);
  const { rows } = await place.pool.query(
    'select mac is null as bare from event_log.event order by position',
  );
  expect(rows.map(({ bare }) => bare)).toEqual([true, false, true]);
});

test('a day later, once no event without a MAC came for an hour, each needs one', async ({
  former,
  place,
}) => {
  await using opened = await place.open();
  await appendOne(opened.eventLog);
  await age(place);
  const clock = createTestClock(Date.now() + DAY_MS + HOUR_MS);
  await using later = await place.open({ clock });
  expect(await typesOf(later.eventLog)).toEqual(['thing.noted', 'thing.noted']);
  await clock.pass(LOOK_MS);
  await until(
    () => fromIn(place),
    (from) => from.length === 1,
  );
  expect(await fromIn(place)).toEqual([2]);
  await appendOne(former);
  await appendOne(later.eventLog);
  await using anew = await place.open();
  expect(await typesOf(anew.eventLog)).toEqual(['thing.noted', 'thing.noted', REFUSED, 'thing.noted']);
});

test('nothing is decided while the former release still appends', async ({ former, place }) => {
  await using _opened = await place.open();
  // The event of the former release is younger than an hour, by the clock of the database alone.
  const clock = createTestClock(Date.now() + 2 * DAY_MS);
  await using later = await place.open({ clock });
  await clock.pass(LOOK_MS);
  await clock.pass(LOOK_MS);
  expect(await fromIn(place)).toEqual([]);
  await appendOne(former);
  expect(await typesOf(later.eventLog)).toEqual(['thing.noted', 'thing.noted']);
});

test('a look that fails is a warning, and the next one decides', async ({ former: _, place }) => {
  await using _opened = await place.open();
  await age(place);
  const clock = createTestClock(Date.now() + 2 * DAY_MS);
  await using _later = await place.open({ clock });
  await place.pool.query('alter table public.authentic_events rename column mac to other');
  await clock.pass(LOOK_MS);
  await until(
    () => place.lines.warnings.map(([, message]) => message),
    (messages) => messages.some((message) => message?.includes('tried again in a minute')),
  );
  await place.pool.query('alter table public.authentic_events rename column other to mac');
  await clock.pass(LOOK_MS);
  await until(
    () => fromIn(place),
    (from) => from.length === 1,
  );
});

test('a process that runs learns within a minute that another one has decided it', async ({
  former,
  place,
}) => {
  const slow = createTestClock();
  await using opened = await place.open({ clock: slow });
  await age(place);
  const fast = createTestClock(Date.now() + DAY_MS + HOUR_MS);
  await using _later = await place.open({ clock: fast });
  await fast.pass(LOOK_MS);
  await until(
    () => fromIn(place),
    (from) => from.length === 1,
  );
  await appendOne(former);
  await slow.pass(LOOK_MS);
  await until(
    () => typesOf(opened.eventLog),
    (types) => types.includes(REFUSED),
  );
});

test('after log renew, events of both identities count, and lost ones do not return', async ({ place }) => {
  {
    await using opened = await place.open();
    await appendOne(opened.eventLog);
    await appendOne(opened.eventLog);
  }
  // The end of the log is lost.
  await place.tamper('create table public.lost as select * from event_log.event where position = 2');
  await place.tamper('delete from event_log.event where position = 2');
  const [from, to] = await inTransaction(place.pool, async (connection) => {
    const { rows } = await connection.query('select id from event_log.identity');
    const renewed = await renewIdentity(connection);
    const changing = { pool: connection, masterKey: place.masterKey, auditDir: place.auditDir };
    await renewStatement(changing, { from: rows[0].id, to: renewed, head: 1 as Position });
    return [rows[0].id, renewed];
  });
  expect(to).not.toBe(from);
  await using opened = await place.open();
  expect(await typesOf(opened.eventLog)).toEqual(['thing.noted']);
  await place.tamper('insert into event_log.event select * from public.lost');
  await appendOne(opened.eventLog);
  expect(await typesOf(opened.eventLog)).toEqual(['thing.noted', REFUSED, 'thing.noted']);
});

test('a log that was restored to an earlier time needs MACs from its end on', async ({ place }) => {
  {
    await using former = await place.openFormer();
    for (let n = 0; n < 3; n += 1) await appendOne(former);
    await age(place);
  }
  {
    const clock = createTestClock(Date.now() + 2 * DAY_MS);
    await using first = await place.open();
    await using _opened = await place.open({ clock });
    await clock.pass(LOOK_MS);
    await until(
      () => fromIn(place),
      (from) => from.length === 1,
    );
    await first.authentic.check();
  }
  expect(await fromIn(place)).toEqual([3]);
  await place.tamper('delete from event_log.event where position > 1');
  const clock = createTestClock(Date.now() + 2 * DAY_MS);
  await using opened = await place.open({ clock });
  await using former = await place.openFormer();
  await appendOne(former);
  expect(await typesOf(opened.eventLog)).toEqual(['thing.noted', REFUSED]);
  // A start that is refused because the log went back has written nothing.
  expect(await fromIn(place)).toEqual([3]);
  await clock.pass(LOOK_MS);
  await until(
    () => fromIn(place),
    ([from]) => from === 1,
  );
});

test('a restored log stores that its new events need MACs before the first of them', async ({ place }) => {
  {
    await using former = await place.openFormer();
    for (let n = 0; n < 3; n += 1) await appendOne(former);
    await using _opened = await place.open({ mayBeginAnew: true });
  }
  expect(await fromIn(place)).toEqual([3]);
  await place.tamper('delete from event_log.event where position > 1');
  await using opened = await place.open();
  expect(await fromIn(place)).toEqual([3]);
  await appendOne(opened.eventLog);
  expect(await fromIn(place)).toEqual([1]);
});

test('an operator accepts an event, or rejects it, and no other one with it', async ({ place }) => {
  await using opened = await place.open();
  await appendOne(opened.eventLog);
  await using former = await place.openFormer();
  await appendOne(former);
  await appendOne(former);
  const [, accepted, rejected] = await allOf(opened.eventLog);
  const changing = { pool: place.pool, masterKey: place.masterKey, auditDir: place.auditDir };
  await decide(
    changing,
    opened.eventLog.identity,
    new Map([
      ['accepted, chained as foreign', [accepted?.notAuthentic ?? '']],
      ['rejected', [rejected?.notAuthentic ?? '']],
    ]),
  );
  await using anew = await place.open();
  const [, counts, known] = await allOf(anew.eventLog);
  expect(counts).toMatchObject({ type: 'thing.noted', data: { n: 1 }, chained: { type: REFUSED } });
  expect(known).toMatchObject({ type: REFUSED });
  expect(known?.notAuthentic).toBeUndefined();
  await anew.authentic.check();
  await place.tamper(`update event_log.event set data = '{"n":2}' where position = 2`);
  await using third = await place.open();
  expect(await typesOf(third.eventLog)).toEqual(['thing.noted', REFUSED, REFUSED]);
  await expect(third.authentic.check()).rejects.toThrow('position 2');
});
