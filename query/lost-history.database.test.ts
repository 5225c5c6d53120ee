import { expect, test } from 'vitest';
import { formatCursor } from '#kernel/base/cursor.ts';
import { spanOf } from '../command/webhooks/span.ts';
import { type Asker, type Backend, openBackend } from '../test/engines/backend.ts';
import { callLine } from '../test/engines/call-line.ts';
import { createCommandDatabase } from '../test/engines/command-side.ts';

const LOST = { status: 400, body: { code: 'cursor_of_lost_history' } };

test('a cursor of a lost history is refused everywhere with a code of its own', async () => {
  await using database = await createCommandDatabase();
  let cursor = '';
  {
    await using before = await openBackend({}, { on: database });
    await before.person('reader');
    cursor = formatCursor(before.side.eventLog.identity, await before.side.eventLog.head());
  }
  expect(await callLine(database.settings, ['log', 'renew'])).toMatchObject({ exit: 0 });
  await using after = await openBackend({}, { on: database });
  const admin = await after.person('admin');
  await after.person('reader');
  await demandRefused(after, admin, cursor);
});

/** By every interface that takes a cursor. */
const demandRefused = async (backend: Backend, by: Asker, cursor: string): Promise<void> => {
  const ask = (path: string, headers = {}) => backend.ask(path, { by, headers });
  expect(await ask(`/events?after=${cursor}`)).toMatchObject(LOST);
  expect(await ask('/events', { accept: 'text/event-stream', 'last-event-id': cursor })).toMatchObject(LOST);
  expect(await ask('/articles', { 'consistency-token': cursor })).toMatchObject(LOST);
  expect(await ask(`/users/${by.id}?at=${cursor}`)).toMatchObject(LOST);
  const body = { query: `subscription { articlePublished(after: "${cursor}") { cursor } }` };
  const headers = { accept: 'text/event-stream' };
  const refused = await backend.ask('/graphql', { by, method: 'POST', body, headers });
  expect(JSON.stringify(refused.body)).toContain('cursor_of_lost_history');
  await expect(spanOf(backend.side.eventLog, { from: cursor })).rejects.toMatchObject({
    code: 'cursor_of_lost_history',
  });
};

test('a cursor of an event that another one has replaced is refused everywhere, though the server remembers nothing', async () => {
  await using backend = await openBackend();
  const admin = await backend.person('admin');
  await backend.person('reader');
  const events = (path: string) => backend.ask(path, { by: admin });
  const [first, second] = (await events('/events')).body as { cursor: string }[];
  const cursor = first?.cursor ?? '';
  expect(cursor).toMatch(/^[0-9a-f]{8}-[0-9a-z]+-[0-9a-f]{8}$/);
  for (const accepted of [cursor, cursor.slice(0, -9)])
    expect((await events(`/events?after=${accepted}`)).body).toMatchObject([{ cursor: second?.cursor }]);
  const other = cursor.endsWith('00000000') ? '11111111' : '00000000';
  await demandRefused(backend, admin, `${cursor.slice(0, -8)}${other}`);
  // Nothing is at that position yet.
  await demandRefused(backend, admin, `${cursor.slice(0, 8)}-zzzzz-${other}`);
});
