import { rm } from 'node:fs/promises';
import { pino } from 'pino';
import { expect } from 'vitest';
import type { EventId, UserId } from '#kernel/base/brands.ts';
import { applyErasures } from '#shared/erasure/apply.ts';
import { allEvents, as, by, type CommandSide, registerUser } from '../../test/engines/command-side.ts';
import { freshTest as base } from '../../test/engines/processes.ts';
import { until } from '../../testing/until.ts';
import { erase } from './erasures.ts';

const test = base
  .extend(
    'keyOf',
    { scope: 'test' },
    ({ side }) =>
      async (userId: UserId, { keys }: CommandSide = side) =>
        (await keys.find([userId])).get(userId),
  )
  .extend(
    'deletionsOf',
    { scope: 'test' },
    ({ side }) =>
      async (userId: UserId) =>
        (await allEvents(side)).filter(
          ({ type, stream }) => type === 'user.deleted' && stream === `user-${userId}`,
        ),
  )
  .extend('deleteUser', { scope: 'test' }, ({ keyOf, side }) => async (userId: UserId): Promise<void> => {
    await side.send({ type: 'DeleteUser', userId }, by(as(userId)));
    await until(
      () => keyOf(userId),
      (key) => key === 'destroyed',
    );
  });

test('a deleted user is on the list, with the event of the deletion', async ({
  deleteUser,
  deletionsOf,
  side,
}) => {
  const userId = await registerUser(side);
  await deleteUser(userId);
  const [event] = await deletionsOf(userId);
  expect(await side.erasures.read()).toEqual([{ userId, at: expect.any(String), event: event?.id }]);
});

test('a key is destroyed only after its user is on the list', async ({ keyOf, side }) => {
  const userId = await registerUser(side);
  const [event] = await allEvents(side);
  const full = { note: () => Promise.reject(new Error('the disk is full')) };
  await expect(erase({ ...side, erasures: full }, userId, event?.id as EventId)).rejects.toThrow(
    'the disk is full',
  );
  expect(await keyOf(userId)).not.toBe('destroyed');
});

test('a user who was erased before the list existed is added at the next start', async ({
  database,
  deleteUser,
  side,
}) => {
  const userId = await registerUser(side);
  await deleteUser(userId);
  await rm(side.erasures.path);
  await using next = await database.open();
  expect(await next.erasures.read()).toEqual([{ userId, at: expect.any(String), event: null }]);
});

test('the key of a listed user is destroyed again, whether it exists or not', async ({ keyOf, side }) => {
  const [restored, kept] = [await registerUser(side), await registerUser(side)];
  const unknown = 77 as UserId;
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  await side.erasures.note(
    [restored, unknown].map((userId) => ({ userId, at: new Date().toISOString(), event: null })),
  );
  expect(await applyErasures({ ...side, log })).toEqual([restored, unknown]);
  expect(lines.join('')).toContain('"users":2');
  expect(await Promise.all([restored, unknown, kept].map((userId) => keyOf(userId)))).toEqual([
    'destroyed',
    'destroyed',
    expect.anything(),
  ]);
  expect(await keyOf(kept)).not.toBe('destroyed');
  expect(await applyErasures({ ...side, log })).toEqual([]);
});

test('a listed user who is not deleted in the log is deleted at the next start, once, and nobody else is', async ({
  database,
  deletionsOf,
  side,
}) => {
  const [restored, kept] = [await registerUser(side), await registerUser(side)];
  const listed = [restored, 77 as UserId].map((userId) => ({
    userId,
    at: new Date().toISOString(),
    event: null,
  }));
  await side.erasures.note(listed);
  {
    await using _one = await database.open();
    await using _other = await database.open();
  }
  expect(await deletionsOf(restored)).toMatchObject([{ metadata: { actor: 'system:erasure-list' } }]);
  expect(await deletionsOf(kept)).toEqual([]);
});
