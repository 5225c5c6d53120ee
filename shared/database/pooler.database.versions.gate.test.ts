import { once } from 'node:events';
import type { Socket } from 'node:net';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../test/engines/database.ts';
import { type PgBouncer, pgBouncerMissing, startPgBouncer } from '../../test/engines/pgbouncer.ts';
import { startRelay } from '../../test/engines/relay.ts';
import { onConnection } from '../../testing/database/search-everywhere.ts';
import { until } from '../../testing/until.ts';
import { holdLock } from './held-lock.ts';
import { inJointTransaction } from './joint.ts';
import { sendPipelined } from './pipeline.ts';
import { type Connection, openPool } from './pool.ts';
import { PreparedRead } from './prepared-read.ts';
import { inTransaction } from './transaction.ts';

if (pgBouncerMissing) console.warn(`Poolers are left out: ${pgBouncerMissing}.`);

describe.skipIf(pgBouncerMissing).each(['session', 'transaction'] as const)(
  'through PgBouncer in %s mode',
  (mode) => {
    let database: TestDatabase;
    let pgBouncer: PgBouncer;
    let url: string;

    beforeAll(async () => {
      database = await createDatabase();
      pgBouncer = await startPgBouncer(inject('postgresUrl'), mode);
      url = pgBouncer.through(database.url);
    });

    afterAll(async () => {
      await pgBouncer?.[Symbol.asyncDispose]();
      await database?.[Symbol.asyncDispose]();
    });

    const open = (given: Partial<Parameters<typeof openPool>[0]> = {}) =>
      openPool({ url, applicationName: 'test', connectionsMax: 4, ...given });

    test('a statement has its timeout and settings, alone and in a transaction', async () => {
      await using pool = open({ statementTimeoutMs: 1_234, settings: { search_path: 'elsewhere, there' } });
      const asked = `select current_setting('statement_timeout') as timeout, current_setting('search_path') as path`;
      const expected = [{ timeout: '1234ms', path: 'elsewhere, there' }];
      expect((await pool.query(asked)).rows).toEqual(expected);
      expect(await inTransaction(pool, async (connection) => (await connection.query(asked)).rows)).toEqual(
        expected,
      );
      expect((await pool.query(`${asked} where $1`, [true])).rows).toEqual(expected);
    });

    test('a prepared read behaves like an ordinary one, whichever session it meets', async () => {
      await using pool = open();
      const statement = { name: 'of-a-pooler', text: 'select $1::int8 as big' };
      const read = () => pool.query<object>(new PreparedRead<object>(statement, [7]) as pg.QueryConfig);
      for (let time = 0; time < 3; time += 1)
        for (const { rows } of await Promise.all([read(), read(), read()]))
          expect(rows).toEqual([{ big: 7 }]);
    });

    test('a transaction that begins with several statements has its settings, and their results', async () => {
      await using pool = open({ statementTimeoutMs: 1_234 });
      const asked = { name: 'shown', text: `select current_setting('statement_timeout') as timeout` };
      const shown: unknown[] = [];
      const show = async (connection: Connection) =>
        void shown.push((await sendPipelined(connection, [asked]))[0]?.rows);
      const work = () =>
        inJointTransaction(pool, [{ text: `set local lock_timeout = 7` }], [show, show], { isShared: true });
      await Promise.all([work(), work(), work()]);
      expect(shown).toEqual(Array.from({ length: 6 }, () => [{ timeout: '1234ms' }]));
    });

    test('a commit is on the disk, even if the server is set not to wait for it', async () => {
      const asked = 'show synchronous_commit';
      expect(await onConnection(database.url, async (client) => (await client.query(asked)).rows)).toEqual([
        { synchronous_commit: 'off' },
      ]);
      await using pool = open();
      expect((await pool.query(asked)).rows).toEqual([{ synchronous_commit: 'on' }]);
      expect(await inTransaction(pool, async (connection) => (await connection.query(asked)).rows)).toEqual([
        { synchronous_commit: 'on' },
      ]);
    });

    test('a statement takes one round trip, settings included', async () => {
      await using relay = await startRelay(url);
      await using pool = open({ url: relay.url, connectionsMax: 1 });
      await pool.query('select 1');
      const answers = relay.withhold();
      const asked = pool.query('select $1::integer as n', [7]);
      await until(
        relay.asked,
        (sent) => sent.includes('statement_timeout') && sent.includes('::integer') && sent.includes('commit'),
      );
      answers.release();
      expect((await asked).rows).toEqual([{ n: 7 }]);
    });

    test('a transaction can choose its isolation', async () => {
      await using pool = open();
      const isolation = await inTransaction(pool, async (connection) => {
        await connection.query('set transaction isolation level repeatable read, read only');
        return (await connection.query(`select current_setting('transaction_isolation') as isolation`)).rows;
      });
      expect(isolation).toEqual([{ isolation: 'repeatable read' }]);
    });

    test('no setting of one client reaches another', async () => {
      await using pool = open({
        connectionsMax: 1,
        statementTimeoutMs: 1_234,
        settings: { search_path: 'elsewhere, there' },
      });
      await pool.query('select 1');
      await pool.query('select 1 / 0').catch(() => {});
      await inTransaction(pool, async (connection) => connection.query('select 1'));
      const asked = `select current_setting('statement_timeout') as timeout, current_setting('search_path') as path`;
      const untouched = await onConnection(database.url, async (client) => (await client.query(asked)).rows);
      expect(await onConnection(url, async (client) => (await client.query(asked)).rows)).toEqual(untouched);
    });

    test('a failed statement leaves nothing behind, and the next one works', async () => {
      await using pool = open({ connectionsMax: 1 });
      await pool.query('create table if not exists public.kept (id integer primary key)');
      await expect(
        pool.query('insert into public.kept select 1 / (2 - n) from generate_series(1, 2) n'),
      ).rejects.toThrow('division by zero');
      expect((await pool.query('insert into public.kept values ($1) returning id', [7])).rows).toEqual([
        { id: 7 },
      ]);
      await expect(pool.query('insert into public.kept values ($1)', [7])).rejects.toMatchObject({
        code: '23505',
      });
      expect((await pool.query('select count(*) from public.kept')).rows).toEqual([{ count: 1 }]);
    });

    test('a lock has one holder, and is free again when it is released or its holder is gone', async () => {
      await using one = open();
      await using two = open();
      const hold = (pool: typeof one) => holdLock(pool, 'hashtext($1)', 'a lock');
      for (let round = 0; round < 5; round += 1) {
        await using held = await hold(one);
        expect(held).toBeDefined();
        await Promise.all(Array.from({ length: 8 }, () => two.query('select 1')));
        expect([await hold(two), await hold(one)]).toEqual([undefined, undefined]);
      }
      const gone = once(one, 'connect') as Promise<[pg.Client]>;
      await using _lost = await hold(one);
      const [client] = await gone;
      (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
      await using held = await until(() => hold(two), Boolean);
      expect(held).toBeDefined();
    });

    test('a lock outlasts the timeout of transactions', async ({ skip }) => {
      await using two = open();
      const { rows } = await two.query<{ number: number }>(
        `select current_setting('server_version_num')::integer as number`,
      );
      skip((rows[0]?.number ?? 0) < 170_000, 'transaction_timeout came with PostgreSQL 17');
      await using one = open({ settings: { transaction_timeout: '100' } });
      await using held = await holdLock(one, 'hashtext($1)', 'a long lock');
      expect(held).toBeDefined();
      const startedAtMs = performance.now();
      await until(
        async () =>
          [performance.now() - startedAtMs, await holdLock(two, 'hashtext($1)', 'a long lock')] as const,
        ([elapsedMs, other]) => elapsedMs > 500 || other !== undefined,
      ).then(([, other]) => expect(other).toBeUndefined());
    });

    test('two processes may use one name for different statements', async () => {
      await using one = open({ connectionsMax: 2 });
      await using two = open({ connectionsMax: 2 });
      const named = (pool: typeof one, text: string) => pool.query({ name: 'same', text, values: [1] });
      const asked = Array.from({ length: 20 }, () => [
        named(one, 'select $1::integer as n'),
        named(two, 'select $1::text as n'),
      ]).flat();
      const answers = (await Promise.all(asked)).map(({ rows }) => rows[0]?.n);
      expect(new Set(answers)).toEqual(new Set([1, '1']));
    });
  },
);
