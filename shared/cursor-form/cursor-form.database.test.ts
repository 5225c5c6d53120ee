import { expect, test } from 'vitest';
import type { EventId, LogIdentity, Position } from '#kernel/base/brands.ts';
import { openPool } from '#shared/database/pool.ts';
import { cursorOf } from '#shared/event-log/own-cursor.ts';
import { createDatabase } from '../../test/engines/database.ts';
import { createTestClock } from '../../test/engines/test-clock.ts';
import { until } from '../../testing/until.ts';
import { migrateFollowers } from '../follower/checkpoint.ts';
import { startNamingEvents } from './cursor-form.ts';

const LOG = '0b9f4e1c-1111-4222-8333-444455556666' as LogIdentity;
const EVENT = '6f9619ff-8b86-4011-b42d-00c04fc964ff' as EventId;
const cursorBy = (namesEvents: () => boolean) =>
  cursorOf({ identity: LOG, namesEvents }, 7 as Position, EVENT);

const openUpgraded = async ({ isNew }: { readonly isNew: boolean }) => {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createDatabase());
  const pool = opening.use(openPool({ url: database.url, applicationName: 'test', connectionsMax: 2 }));
  await migrateFollowers(pool);
  await pool.query(`insert into public.follower_checkpoint values ('projector', $1, 7, 1)`, [LOG]);
  // The release before does not record it.
  if (!isNew) await pool.query('delete from public.cursor_form');
  const resources = opening.move();
  return { pool, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

test('in a new database, cursors name their events at once', async () => {
  await using upgraded = await openUpgraded({ isNew: true });
  const given = { clock: createTestClock(), signal: new AbortController().signal };
  expect(cursorBy(await startNamingEvents(upgraded.pool, given))).toBe('0b9f4e1c-7-4fc964ff');
});

test('in a database that the release before may still use, they name their events after an hour', async () => {
  await using upgraded = await openUpgraded({ isNew: false });
  const clock = createTestClock();
  const namesEvents = await startNamingEvents(upgraded.pool, { clock, signal: new AbortController().signal });
  expect(cursorBy(namesEvents)).toBe('0b9f4e1c-7');
  await clock.advance(3_500_000);
  expect(cursorBy(namesEvents)).toBe('0b9f4e1c-7');
  await clock.advance(100_000);
  await until(
    () => cursorBy(namesEvents),
    (cursor) => cursor === '0b9f4e1c-7-4fc964ff',
  );
});

test('a process that starts later does not begin the hour again', async () => {
  await using upgraded = await openUpgraded({ isNew: false });
  const start = () =>
    startNamingEvents(upgraded.pool, { clock: createTestClock(), signal: new AbortController().signal });
  await start();
  expect(cursorBy(await start())).toBe('0b9f4e1c-7');
  await upgraded.pool.query(`update public.cursor_form set since = since - interval '61 minutes'`);
  expect(cursorBy(await start())).toBe('0b9f4e1c-7-4fc964ff');
});

test('two installations in one process do not share the form of their cursors', async () => {
  await using upgraded = await openUpgraded({ isNew: false });
  await using created = await openUpgraded({ isNew: true });
  const given = { clock: createTestClock(), signal: new AbortController().signal };
  const former = await startNamingEvents(upgraded.pool, given);
  const latter = await startNamingEvents(created.pool, given);
  expect([former, latter].map(cursorBy)).toEqual(['0b9f4e1c-7', '0b9f4e1c-7-4fc964ff']);
});
