// Over 200 lines, because it is one rule: who stays the last administrator, also under concurrency.
import { afterEach, describe, expect, vi } from 'vitest';
import type { UserId } from '#kernel/base/brands.ts';
import {
  as,
  by,
  type CommandSide,
  Died,
  mortal,
  registerUser,
  system,
} from '../../test/engines/command-side.ts';
import { later } from '../../test/engines/later.ts';
import { freshTest as base } from '../../test/engines/processes.ts';
import { until } from '../../testing/until.ts';

let names = 0;
const test = base.extend(
  'administrator',
  { scope: 'test' },
  ({ side }) =>
    (on: CommandSide = side): Promise<UserId> =>
      registerUser(on, { role: 'admin', email: `admin${++names}@example.com` }),
);
afterEach(() => {
  vi.useRealTimers();
});

const ways = {
  delete: (userId: UserId) => ({ type: 'DeleteUser', userId }),
  demote: (userId: UserId) => ({ type: 'UpdateUser', userId, role: 'author' }),
  patch: (userId: UserId) => ({
    type: 'PatchUser',
    userId,
    patch: [{ op: 'replace', path: '/role', value: 'reader' }],
  }),
  'take the address of': (userId: UserId) => ({ type: 'UpdateUser', userId, email: null }),
} as const;
const remove = (
  on: CommandSide,
  userId: UserId,
  { caller = as(userId, 'admin'), way = 'demote' as keyof typeof ways } = {},
) => on.send(ways[way](userId) as never, by(caller));
const last = { code: 'last_administrator' };
/** As the authorization server does it. */
const setDeactivated = ({ pool }: CommandSide, userId: UserId, isDeactivated: boolean) =>
  pool.query(
    `insert into auth.person (user_id, role, status, version, deactivated_at)
     values ($1, 'author', 'active', 1, case when $2 then now() end)
     on conflict (user_id) do update set deactivated_at = excluded.deactivated_at`,
    [userId, isDeactivated],
  );

describe('the last administrator', () => {
  test('keeps the role until another user has it, whatever command is tried', async ({
    administrator,
    other,
    side,
  }) => {
    const only = await administrator();
    const robot = await registerUser(side, { role: 'admin', email: null });
    for (const way of Object.keys(ways) as (keyof typeof ways)[])
      await expect(remove(side, only, { way, caller: as(robot, 'admin') })).rejects.toMatchObject(last);
    const author = await registerUser(side, { email: 'author@example.com' });
    await other.send({ type: 'UpdateUser', userId: author, role: 'admin' }, by(as(only, 'admin')));
    await remove(side, only);
    await expect(remove(other, author, { way: 'delete' })).rejects.toMatchObject(last);
  });

  test('may be a service account if there is no other administrator', async ({ administrator, side }) => {
    const robot = await registerUser(side, { role: 'admin', email: null });
    await expect(remove(side, robot, { way: 'delete' })).rejects.toMatchObject(last);
    await administrator();
    await remove(side, robot, { way: 'delete' });
  });

  test('is never a deactivated account', async ({ administrator, other, side }) => {
    const only = await administrator();
    const author = await registerUser(side, { email: 'deactivated@example.com' });
    await setDeactivated(side, author, true);
    await other.send({ type: 'UpdateUser', userId: author, role: 'admin' }, by(as(only, 'admin')));
    const robot = await registerUser(side, { role: 'admin', email: null });
    for (const way of Object.keys(ways) as (keyof typeof ways)[])
      await expect(remove(side, only, { way, caller: as(robot, 'admin') })).rejects.toMatchObject(last);
    await remove(side, author);
    await expect(remove(side, only)).rejects.toMatchObject(last);
    await other.send({ type: 'UpdateUser', userId: author, role: 'admin' }, by(as(only, 'admin')));
    await setDeactivated(side, author, false);
    await remove(side, only);
    await remove(side, robot, { way: 'delete' });
    await expect(remove(side, author)).rejects.toMatchObject(last);
  });

  test('is erased again after a restore', async ({ administrator, side }) => {
    await remove(side, await administrator(), { way: 'delete', caller: system });
  });
});

test('one administrator remains when several demote each other concurrently in two processes', async ({
  administrator,
  other,
  side,
}) => {
  for (let round = 0; round < 5; round += 1) {
    const [one, two, three] = [
      await administrator(),
      await administrator(other),
      await administrator(),
    ] as const;
    const attempts = [
      [side, one, two],
      [other, two, three],
      [side, three, one],
      [other, one, three],
    ] as const;
    const outcomes = await Promise.allSettled(
      attempts.map(([on, whom, who]) => remove(on, whom, { caller: as(who, 'admin') })),
    );
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(last);
    const left = [];
    for (const userId of [one, two, three]) {
      const kept = await remove(side, userId).then(
        () => false,
        () => true,
      );
      if (kept) left.push(userId);
    }
    expect(left).toHaveLength(1);
    await remove(side, left[0] as UserId, { way: 'delete', caller: system });
  }
});

test('the last administrator stays while another is being deactivated', async ({ administrator, side }) => {
  const [only, another] = [await administrator(), await administrator()];
  await setDeactivated(side, another, false);
  const deactivating = await side.pool.connect();
  try {
    await deactivating.query('begin');
    await deactivating.query('update auth.person set deactivated_at = now() where user_id = $1', [another]);
    const refused = expect(remove(side, only)).rejects.toMatchObject(last);
    await until(
      () =>
        side.pool.query(
          `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        ),
      ({ rowCount }) => rowCount === 1,
    );
    await deactivating.query('commit');
    await refused;
  } finally {
    deactivating.release();
  }
});

test('an administrator whose removal crashed counts again', async ({
  administrator,
  database,
  other,
  side,
}) => {
  const [one, two] = [await administrator(), await administrator()];
  {
    await using dying = await database.open({
      wrapLog: mortal((stream) => (stream === `user-${one}` ? 'before' : undefined)),
    });
    await expect(remove(dying, one)).rejects.toThrow(Died);
  }
  later();
  await remove(other, two);
  await expect(remove(side, one)).rejects.toMatchObject(last);
});

test('a slow removal does not remove the last administrator', async ({ administrator, database, other }) => {
  const [one, two] = [await administrator(), await administrator()];
  const { promise: waiting, resolve: goOn } = Promise.withResolvers<void>();
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  await using slow = await database.open({
    wrapLog: (log) => ({
      ...log,
      async append(stream, expected, events) {
        if (stream === `user-${one}`) {
          reach();
          await waiting;
        }
        return log.append(stream, expected, events);
      },
    }),
  });
  const late = expect(remove(slow, one)).rejects.toMatchObject(last);
  await reached;
  later();
  await remove(other, two);
  goOn();
  await late;
});

test('administrators from before any announcement are found in the read model', async ({
  administrator,
  other,
  side,
}) => {
  const [one, two] = [await registerUser(side, { email: 'old@example.com' }), await administrator()];
  const promoted = {
    id: 'a0000000-0000-4000-8000-000000000001',
    event: { type: 'user.updated', data: { userId: one, role: 'admin' } },
  } as const;
  const metadata = {
    at: new Date().toISOString(),
    actor: 'system:test',
    client: null,
    request: 'r',
    correlation: 'r',
    causation: null,
  } as const;
  const stream = `user-${one}` as never;
  await side.eventLog.append(
    stream,
    1 as never,
    await side.codec.encodeAll(stream, metadata, [promoted as never]),
  );
  await expect(remove(other, two)).rejects.toMatchObject(last);
  await side.pool.query(
    `create schema read_model create table users (id bigint, role text, created_at timestamptz, deleted_at timestamptz)`,
  );
  await side.pool.query(`insert into read_model.users values ($1, 'admin', now(), null)`, [one]);
  await remove(other, two);
});
