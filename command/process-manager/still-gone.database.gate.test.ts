import { expect } from 'vitest';
import type { StreamName } from '#kernel/base/brands.ts';
import { holdLeases } from '#shared/database/lease/lease.ts';
import { by, registerUser, system } from '../../test/engines/command-side.ts';
import { test } from '../../test/engines/processes.ts';
import { bookmarks } from '../../test/toy/bookmarks.ts';
import { until } from '../../testing/until.ts';
import { LEASE } from './fence.ts';

test('a reference that leads elsewhere before its target’s end is carried out stays there', async ({
  database,
}) => {
  await using side = await database.open({ domain: bookmarks });
  const keeperId = await registerUser(side, { role: 'agent' as never });
  const give = async (command: object): Promise<number> => (await side.send(command as never, by(system))).id;
  const open = () => give({ type: 'OpenDesk', name: 'First floor', headId: keeperId });
  const [closed, other] = [await open(), await open()];
  const ticketId = await give({
    type: 'OpenTicket',
    customerId: keeperId,
    deskId: other,
    subject: 'It burns',
  });
  const at = { ticketId, placeId: closed };
  const keep = () => give({ type: 'KeepBookmark', keeperId, ...at });
  const [moved, kept] = [await keep(), await keep()];
  for (const bookmarkId of [moved, kept]) await give({ type: 'AddBookmark', bookmarkId, ...at });
  const countTasks = async () =>
    (await side.pool.query<{ tasks: number }>('select count(*) as tasks from process_manager.task')).rows[0]
      ?.tasks;
  {
    await using _waiting = await holdLeases(side.pool, [LEASE]);
    await give({ type: 'CloseDesk', deskId: closed });
    await until(countTasks, (tasks) => tasks === 4);
    await give({ type: 'ChangeBookmark', bookmarkId: moved, placeId: other });
    await give({ type: 'WeighBookmark', bookmarkId: moved, otherId: 1, placeId: other });
  }
  await until(countTasks, (tasks) => tasks === 0);
  const typesOf = async (id: number) =>
    (await Array.fromAsync(side.eventLog.read(`bookmark-${id}` as StreamName)))
      .flat()
      .map(({ type }) => type);
  expect((await typesOf(moved)).filter((type) => type.endsWith('Gone'))).toEqual([]);
  expect((await typesOf(kept)).filter((type) => type.endsWith('Gone')).toSorted()).toEqual([
    'bookmark.othersPlaceGone',
    'bookmark.placeGone',
  ]);
});
