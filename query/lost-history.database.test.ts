import { expect, test } from 'vitest';
import { formatCursor } from '#shared/cursor.ts';
import { spanOf } from '../command/webhooks/span.ts';
import { openBackend } from '../test/engines/backend.ts';
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
  const ask = (path: string, headers = {}) => after.ask(path, { by: admin, headers });
  expect(await ask(`/events?after=${cursor}`)).toMatchObject(LOST);
  expect(await ask('/events', { accept: 'text/event-stream', 'last-event-id': cursor })).toMatchObject(LOST);
  expect(await ask('/articles', { 'consistency-token': cursor })).toMatchObject(LOST);
  expect(await ask(`/users/${admin.id}?at=${cursor}`)).toMatchObject(LOST);
  const body = { query: `subscription { articlePublished(after: "${cursor}") { cursor } }` };
  expect(
    JSON.stringify(
      (
        await after.ask('/graphql', {
          by: admin,
          method: 'POST',
          body,
          headers: { accept: 'text/event-stream' },
        })
      ).body,
    ),
  ).toContain('cursor_of_lost_history');
  expect(() => spanOf(after.side.eventLog, { from: cursor })).toThrow(
    expect.objectContaining({ code: 'cursor_of_lost_history' }),
  );
});
