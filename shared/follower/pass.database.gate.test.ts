// Over 200 lines, because every case shares the transactions of one table.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'vitest';
import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import type { Connection } from '#shared/database/pool.ts';
import { test as base } from '../../test/engines/pool.ts';
import { migrateFollowers } from './checkpoint.ts';
import { Pass, type Turn } from './pass.ts';

const LOG = '00000000-0000-4000-8000-000000000001' as LogIdentity;
const HOUR_MS = 3_600_000;
const LOCK_NOT_AVAILABLE = '55P03';

const test = base
  .extend('connectionsMax', { scope: 'file' }, 6)
  .extend('limits', {} as ConstructorParameters<typeof Pass>[1])
  // However busy the machine is, nothing counts as slow unless a test says so.
  .extend('pass', ({ pool, limits }) => new Pass(pool, { waitMaxMs: HOUR_MS, slowMs: HOUR_MS, ...limits }))
  .extend('followers', ({ pool, pass }) => {
    /** A follower with a checkpoint, which writes its name and its new position. */
    const follower = async (name: string, options: Partial<Turn> = {}) => {
      await pool.query(`insert into public.follower_checkpoint values ($1, $2, 1, 1)`, [name, LOG]);
      let saved = 1 as Position;
      const write = async (connection: Connection) =>
        void (await connection.query('insert into public.wrote values ($1, $2, txid_current())', [
          name,
          saved + 1,
        ]));
      const turn: Turn = {
        follower: name,
        move: () => ({ log: LOG, from: saved, to: (saved + 1) as Position, epoch: 1 }),
        committed() {
          saved = (saved + 1) as Position;
        },
        write,
        ...options,
      };
      const key = {};
      return {
        key,
        turn,
        at: () => saved,
        go: (withinMs = 0, changed: Partial<Turn> = {}) => pass.write(key, { ...turn, ...changed }, withinMs),
      };
    };
    /** The transactions of all that was written, in order. */
    const transactions = async (): Promise<readonly (readonly string[])[]> => {
      const { rows } = await pool.query<{ who: string[] }>(
        `select array_agg(follower || ' ' || position order by follower) as who from public.wrote group by transaction order by transaction`,
      );
      return rows.map(({ who }) => who);
    };
    return { follower, transactions };
  });
test.beforeAll(async ({ pool }) => {
  await migrateFollowers(pool);
  await pool.query('create table public.wrote (follower text, position bigint, transaction bigint)');
});
test.beforeEach(({ pool }) => pool.query('truncate public.wrote, public.follower_checkpoint'));

const refuse = async (): Promise<never> => {
  throw new RangeError('poison');
};

test('what is due in the same turn shares a transaction, and takes along what still waits', async ({
  followers: { follower, transactions },
}) => {
  const [one, two, three] = [await follower('one'), await follower('two'), await follower('three')];
  const waiting = three.go(HOUR_MS);
  await Promise.all([one.go(), two.go(), waiting]);
  await one.go();
  expect(await transactions()).toEqual([['one 2', 'three 2', 'two 2'], ['one 3']]);
});

test.for(['one', 'two', 'three'])(
  'if %s fails, the others write in transactions of their own, and share the next ones',
  async (poisoned, { followers: { follower, transactions } }) => {
    const all = [await follower('one'), await follower('two'), await follower('three')];
    const results = await Promise.allSettled(
      all.map(({ go, turn }) => go(0, turn.follower === poisoned ? { write: refuse } : {})),
    );
    expect(results.map(({ status }) => status)).toEqual(
      all.map(({ turn }) => (turn.follower === poisoned ? 'rejected' : 'fulfilled')),
    );
    const others = all.filter(({ turn }) => turn.follower !== poisoned).map(({ turn }) => turn.follower);
    expect((await transactions()).flat().toSorted()).toEqual(others.map((name) => `${name} 2`).toSorted());
    expect(await transactions()).toHaveLength(2);
    // The one that failed comes back once it has succeeded.
    for (const together of [2, 3]) {
      await Promise.all(all.map(({ go }) => go()));
      expect((await transactions()).map((each) => each.length)).toContain(together);
    }
  },
);

test('a checkpoint that another transaction holds delays no other follower', async ({
  pool,
  followers: { follower, transactions },
}) => {
  const all = [await follower('one'), await follower('held'), await follower('two')];
  const holder = await pool.connect();
  await holder.query(`begin; select from public.follower_checkpoint where follower = 'held' for update`);
  const [one, held, two] = all.map(({ go }) => go());
  await Promise.all([one, two]);
  await all[0]?.go();
  expect((await transactions()).toSorted()).toEqual([['one 2'], ['one 3'], ['two 2']]);
  await holder.query('rollback');
  holder.release();
  await held;
  expect((await transactions()).flat()).toContain('held 2');
});

test('a follower that fails and then waits delays no other', async ({
  followers: { follower, transactions },
}) => {
  const [one, two, failing] = [await follower('one'), await follower('two'), await follower('failing')];
  const { promise: goOn, resolve: letGo } = Promise.withResolvers<void>();
  const write: Turn['write'] = (connection) => {
    const again = async () => {
      await goOn;
      await failing.turn.write?.(connection);
    };
    tries += 1;
    return tries === 1 ? refuse() : again();
  };
  let tries = 0;
  const late = failing.go(0, { write });
  await Promise.all([one.go(), two.go()]);
  await Promise.all([one.go(), two.go()]);
  expect((await transactions()).at(-1)).toEqual(['one 3', 'two 3']);
  letGo();
  await late;
  expect((await transactions()).flat()).toContain('failing 2');
});

test('a superseded follower writes nothing, and the others do', async ({
  pool,
  followers: { follower, transactions },
}) => {
  const [one, former] = [await follower('one'), await follower('former')];
  await pool.query(`update public.follower_checkpoint set epoch = 2 where follower = 'former'`);
  const [first, second] = await Promise.allSettled([one.go(), former.go()]);
  expect(first).toMatchObject({ status: 'fulfilled' });
  expect(second).toMatchObject({ reason: { message: 'another process has taken over as the former' } });
  expect(await transactions()).toEqual([['one 2']]);
  expect(former.at()).toBe(1);
});

test.describe('with little patience', () => {
  test.override('limits', { waitMaxMs: 20 });
  test('nobody waits for a transaction that takes long', async ({
    followers: { follower, transactions },
  }) => {
    const { promise: goOn, resolve: letGo } = Promise.withResolvers<void>();
    const [slow, one, two] = [await follower('slow'), await follower('one'), await follower('two')];
    const { promise: begun, resolve: begins } = Promise.withResolvers<void>();
    const write: Turn['write'] = async (connection) => {
      begins();
      await goOn;
      await slow.turn.write?.(connection);
    };
    const shared = Promise.all([slow.go(0, { write }), two.go()]);
    await begun;
    await one.go();
    letGo();
    await shared;
    expect((await transactions()).toSorted()).toEqual([['one 2'], ['slow 2', 'two 2']]);
  });
});

test.describe('with little patience for locks', () => {
  test.override('limits', { waitMaxMs: 20 });
  test('nobody waits for a lock that another follower needs', async ({
    pool,
    followers: { follower, transactions },
  }) => {
    const [one, locked, two] = [await follower('one'), await follower('locked'), await follower('two')];
    const holder = await pool.connect();
    await holder.query('begin; select pg_advisory_xact_lock(9)');
    const refusals: unknown[] = [];
    const write: Turn['write'] = async (connection) => {
      await connection.query('select pg_advisory_xact_lock(9)').catch((error: Error & { code?: string }) => {
        refusals.push(error.code);
        throw error;
      });
      await locked.turn.write?.(connection);
    };
    const late = locked.go(0, { write });
    await Promise.all([one.go(), two.go()]);
    expect(refusals).toEqual([LOCK_NOT_AVAILABLE]);
    await holder.query('rollback');
    holder.release();
    await late;
    expect((await transactions()).flat().toSorted()).toEqual(['locked 2', 'one 2', 'two 2']);
  });
});

test.describe('where a transaction is slow', () => {
  test.override('limits', { slowMs: 500 });
  const asleep = (turn: Turn): Partial<Turn> => ({
    async write(connection) {
      await connection.query('select pg_sleep(1)');
      await turn.write?.(connection);
    },
  });

  test('the one that makes it slow has its own from then on', async ({
    followers: { follower, transactions },
  }) => {
    const [slow, one, two] = [await follower('slow'), await follower('one'), await follower('two')];
    const go = () => Promise.all([slow.go(0, asleep(slow.turn)), one.go(), two.go()]);
    await go();
    expect(await transactions()).toEqual([['one 2', 'slow 2', 'two 2']]);
    await go();
    expect(await transactions()).toHaveLength(4);
    await go();
    expect((await transactions()).slice(4).toSorted()).toEqual([['one 4', 'two 4'], ['slow 4']]);
  });

  test('all share again if none is slower than the others', async ({
    followers: { follower, transactions },
  }) => {
    const [one, two] = [await follower('one'), await follower('two')];
    const go = () => Promise.all([one, two].map((each) => each.go(0, asleep(each.turn))));
    await go();
    await go();
    await go();
    expect((await transactions()).map((each) => each.length)).toEqual([2, 1, 1, 2]);
  });
});

test('a follower that fails after its commit writes nothing twice', async ({
  followers: { follower, transactions },
}) => {
  const [one, two] = [await follower('one'), await follower('two')];
  const committed = () => {
    one.turn.committed();
    throw new RangeError('too late');
  };
  await expect(Promise.all([one.go(0, { committed }), two.go()])).rejects.toThrow('too late');
  expect(await transactions()).toEqual([['one 2', 'two 2']]);
  expect([one.at(), two.at()]).toEqual([2, 2]);
});

test('a follower with many events shares no transaction', async ({
  followers: { follower, transactions },
}) => {
  const [many, one, two] = [
    await follower('many', { isAlone: true }),
    await follower('one'),
    await follower('two'),
  ];
  await Promise.all([many.go(), one.go(), two.go()]);
  expect((await transactions()).toSorted()).toEqual([['many 2'], ['one 2', 'two 2']]);
});

test('checkpoints without anything to write move in one statement', async ({
  pool,
  followers: { follower },
}) => {
  const [one, two] = [await follower('one'), await follower('two')];
  await Promise.all([one, two].map(({ go }) => go(0, { write: undefined } as unknown as Partial<Turn>)));
  const { rows } = await pool.query(
    'select count(distinct xmin::text)::integer as transactions, min(position) as position from public.follower_checkpoint',
  );
  expect(rows).toEqual([{ transactions: 1, position: 2 }]);
});

test('a turn that still waits is replaced by the next of its follower, and one that has left is not written', async ({
  pass,
  followers: { follower, transactions },
}) => {
  const [one, gone] = [await follower('one'), await follower('gone')];
  const first = one.go(HOUR_MS, { write: refuse });
  const left = gone.go(HOUR_MS);
  await pass.leave(gone.key);
  await left;
  await Promise.all([first, one.go()]);
  await nextTurn();
  expect(await transactions()).toEqual([['one 2']]);
  expect(gone.at()).toBe(1);
});

test('if the connection is lost in between, nothing is written by any follower, and all write it later', async ({
  pool,
  followers: { follower, transactions },
}) => {
  const all = [await follower('one'), await follower('two')];
  let isCut = false;
  const cut: Turn['write'] = async (connection) => {
    if (isCut) return all[1]?.turn.write?.(connection);
    isCut = true;
    const { rows } = await connection.query<{ pid: number }>('select pg_backend_pid() as pid');
    await pool.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
    await connection.query('select 1');
  };
  await Promise.all(all.map(({ go }, index) => go(0, index === 1 ? { write: cut } : {})));
  expect((await transactions()).toSorted()).toEqual([['one 2'], ['two 2']]);
});
