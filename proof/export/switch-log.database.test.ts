import { expect, test } from 'vitest';
import type { EventId, LogIdentity, Position } from '#kernel/base/brands.ts';
import { openPool } from '#shared/database/pool.ts';
import { migrateFollowers } from '#shared/follower/checkpoint.ts';
import { createDatabase } from '../../test/engines/database.ts';
import { type Moved, switchLog } from './switch-log.ts';

const LOG = '0b9f4e1c-1111-4222-8333-444455556666' as LogIdentity;
const COPY = '0b9f4e1c-7777-4222-8333-444455556666' as LogIdentity;
const [FIRST, SECOND, LOST] = [1, 2, 3].map((n) => `6f9619ff-8b86-4011-b42d-00c04fc964f${n}` as EventId);

const openMigrated = async () => {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createDatabase());
  const pool = opening.use(openPool({ url: database.url, applicationName: 'test', connectionsMax: 2 }));
  await migrateFollowers(pool);
  const resources = opening.move();
  return { pool, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

const moved = [
  { id: FIRST, from: 10, to: 3 },
  { id: SECOND, from: 20, to: 5 },
] as Moved[];
async function* pages(): AsyncGenerator<readonly Moved[]> {
  yield moved;
}

type Checkpoint = { readonly position: number; readonly event: EventId | undefined };
const insert = (pool: ReturnType<typeof openPool>, { position, event }: Checkpoint) =>
  pool.query(
    `insert into public.follower_checkpoint (follower, log, position, epoch, event, event_position)
     values ('projector', $1, $2, 1, $3, $2)`,
    [LOG, position, event],
  );
const checkpoints = async (pool: ReturnType<typeof openPool>) =>
  (await pool.query('select log, position, event from public.follower_checkpoint')).rows;

test('a database moves to a copy that has the events of its checkpoints', async () => {
  await using migrated = await openMigrated();
  const { pool } = migrated;
  await insert(pool, { position: 20, event: SECOND });
  await switchLog(pool, { from: LOG, to: COPY }, pages());
  expect(await checkpoints(pool)).toEqual([{ log: COPY, position: 5 as Position, event: SECOND }]);
});

test.for([
  ['behind its events', 30],
  ['at the position of another', 20],
  ['between two', 15],
] as const)('a database that has followed a lost event is refused: %s', async ([_where, position]) => {
  await using migrated = await openMigrated();
  const { pool } = migrated;
  await insert(pool, { position, event: LOST });
  await expect(switchLog(pool, { from: LOG, to: COPY }, pages())).rejects.toThrow(
    `The projector has followed event ${LOST} at position ${position}, which the log does not have`,
  );
  expect(await checkpoints(pool)).toEqual([{ log: LOG, position, event: LOST }]);
});
