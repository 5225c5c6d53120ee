import { expect } from 'vitest';
import { type EventLog, NO_STREAM, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { type AuthenticPlace, test as base, ourEvent, thing } from '../../test/engines/authentic-log.ts';
import { createTestClock } from '../../test/engines/test-clock.ts';
import { until } from '../../testing/until.ts';
import { decide } from './change-statement.ts';

const LOOK_MS = 60_000;

const allOf = async (log: EventLog): Promise<readonly RecordedEvent[]> =>
  (await log.page?.(START, 100)) ?? [];

/** Two events without MACs, which a process has met. */
const test = base.extend('opened', async ({ place }, { onCleanup }) => {
  const clock = createTestClock();
  const opened = await place.open({ clock });
  onCleanup(() => opened[Symbol.asyncDispose]());
  for (let n = 0; n < 2; n += 1) await opened.eventLog.append(thing(), NO_STREAM, [ourEvent()]);
  await place.tamper('create table public.kept as select position, mac from event_log.event');
  await place.tamper('update event_log.event set mac = null');
  await allOf(opened.eventLog);
  const check = () =>
    opened.authentic.check().then(
      () => 'fine',
      (error: Error) => error.message,
    );
  expect(await check()).toContain('2 events that no command wrote');
  return { ...opened, clock, check };
});

const repair = ({ tamper }: AuthenticPlace, position: number) =>
  tamper(
    'update event_log.event e set mac = k.mac from public.kept k where k.position = e.position and e.position = $1',
    [position],
  );

test('a process names an event no more within a minute once it is right again', async ({ opened, place }) => {
  await repair(place, 1);
  await opened.clock.pass(LOOK_MS);
  await until(opened.check, (said) => said.includes('at position 2'));
  await repair(place, 2);
  await opened.clock.pass(LOOK_MS);
  await until(opened.check, (said) => said === 'fine');
  expect(place.lines.warnings).toEqual([]);
});

test('a process names an event no more within a minute once it is accepted', async ({ opened, place }) => {
  const changing = { pool: place.pool, masterKey: place.masterKey, auditDir: place.auditDir };
  const refused = (await allOf(opened.eventLog)).map(({ notAuthentic = '' }) => notAuthentic);
  await decide(changing, opened.eventLog.identity, new Map([['accepted', refused]]));
  await opened.clock.pass(LOOK_MS);
  await until(opened.check, (said) => said === 'fine');
});

test('a process names an event no more within a minute once it is gone', async ({ opened, place }) => {
  await place.tamper('delete from event_log.event where position = 2');
  await opened.clock.pass(LOOK_MS);
  await until(opened.check, (said) => said.includes('at position 1'));
});

test('a process still names an event whose stream and version somebody has changed', async ({
  opened,
  place,
}) => {
  await repair(place, 1);
  await place.tamper(`update event_log.event set stream = 'thing-other', version = 7 where position = 2`);
  await opened.clock.pass(LOOK_MS);
  await until(opened.check, (said) => said.includes('an event that no command wrote'));
  expect(await opened.check()).toContain('at position 2');
});

test('a process is not ready while there may be an event that was one too many to be named', async ({
  opened,
  place,
}) => {
  const former = await place.openFormer();
  for (let n = 0; n < 99; n += 1) await former.append(thing(), NO_STREAM, [ourEvent()]);
  await former[Symbol.asyncDispose]();
  const changing = { pool: place.pool, masterKey: place.masterKey, auditDir: place.auditDir };
  const refused = ((await opened.eventLog.page?.(START, 1_000)) ?? []).map(
    ({ notAuthentic = '' }) => notAuthentic,
  );
  expect(refused).toHaveLength(101);
  expect(await opened.check()).toContain('100 events that no command wrote');
  const { identity } = opened.eventLog;
  await decide(changing, identity, new Map([['rejected', refused.slice(0, 100)]]));
  await opened.clock.pass(LOOK_MS);
  await until(opened.check, (said) => said.includes('at position 101'));
  await decide(changing, identity, new Map([['rejected', refused.slice(100)]]));
  await opened.clock.pass(LOOK_MS);
  await until(opened.check, (said) => said === 'fine');
});

test('an event that cannot be read keeps nothing else from being looked at', async ({ opened, place }) => {
  await repair(place, 2);
  await place.pool.query(`alter table event_log.event alter column data type text using data::text`);
  await place.tamper(`update event_log.event set data = 'no JSON' where position = 1`);
  await opened.clock.pass(LOOK_MS);
  await until(opened.check, (said) => said.includes('an event that no command wrote'));
  expect(await opened.check()).toContain('at position 1');
  expect(place.lines.warnings.map(([, message]) => message)).toContain(
    'It cannot be found out whether the event is right now.',
  );
});

test('a process that knows the events of a decision writes their row again', async ({ opened, place }) => {
  const changing = { pool: place.pool, masterKey: place.masterKey, auditDir: place.auditDir };
  const refused = (await allOf(opened.eventLog)).map(({ notAuthentic = '' }) => notAuthentic);
  await decide(changing, opened.eventLog.identity, new Map([['accepted', refused]]));
  await opened.clock.pass(LOOK_MS);
  await until(opened.check, (said) => said === 'fine');
  const digests = async () =>
    (await place.pool.query(`select encode(digests, 'hex') as digests from public.decided_events`)).rows;
  const before = await digests();
  for (const statement of [
    'delete from public.decided_events',
    `update public.decided_events set digests = '\\x00'`,
  ]) {
    await place.pool.query(statement);
    await opened.clock.pass(LOOK_MS);
    await until(digests, (found) => found.length === 1 && found[0].digests === before[0].digests);
  }
  expect(place.lines.errors.map(([, message]) => message)).toContainEqual(
    expect.stringContaining('row of public.decided_events'),
  );
});
