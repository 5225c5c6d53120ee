import type { Socket } from 'node:net';
import type pg from 'pg';
import { pino } from 'pino';
import { expect } from 'vitest';
import { createMetrics } from '#process/observability/metrics.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { processOf } from '#shared/database/session.ts';
import { NO_STREAM } from '#shared/event-log/event-log.ts';
import { anEvent, aStream } from '../../test/contracts/event-log-engine.ts';
import { openCuttable } from '../../test/engines/cuttable.ts';
import { test } from '../../test/engines/pool.ts';
import { until } from '../../testing/until.ts';
import { readCheckpoint } from './checkpoint.ts';
import { type FollowerOptions, startFollower } from './follower.ts';

/** Nothing here waits for it. */
const HOUR_MS = 3_600_000;
const FOLLOWER = 'hangs';

type Wired = pg.ClientBase & { readonly connection: { readonly stream: Socket } };
const portOf = (connection: pg.ClientBase | undefined): number =>
  (connection as Wired | undefined)?.connection.stream.localPort ?? 0;

test('a leader whose connection hangs gives up its lease, though it can renew it, and every event is written once', async ({
  database,
  pool,
  eventLog,
}) => {
  await using way = await openCuttable(database.url.replace(/^postgres(?:ql)?:/, 'http:'));
  const through = Object.assign(new URL(database.url), { host: `127.0.0.1:${way.port}` }).href;
  const limits = { applicationName: 'test-hangs', connectionsMax: 4, statementTimeoutMs: HOUR_MS };
  await using hanging = openPool({ ...limits, url: through });
  const connections: pg.ClientBase[] = [];
  hanging.on('connect', (connection) => connections.push(connection));
  await using standing = openPool({ ...limits, url: database.url });
  await pool.query('create table public.written (position integer)');
  const hung: unknown[] = [];
  const start = (on: Pool, write: NonNullable<FollowerOptions['write']>) =>
    startFollower({
      name: FOLLOWER,
      pool: on,
      eventLog,
      log: pino({ level: 'silent' }),
      metrics: createMetrics(),
      clock: REAL_TIME,
      write,
    });
  const write: NonNullable<FollowerOptions['write']> = async (events, connection) => {
    for (const { position } of events)
      await connection.query('insert into public.written values ($1)', [position]);
  };
  const append = () => eventLog.append(aStream(), NO_STREAM, [anEvent()]);
  const isAt = (position: number) =>
    until(
      () => readCheckpoint(pool, FOLLOWER),
      (checkpoint) => checkpoint?.position === position,
      30_000,
    );
  await using _leader = await start(hanging, async (events, connection) => {
    if (events.some(({ position }) => position === 2) && hung.length === 0) {
      // Only this connection: the lease goes on being renewed.
      const { rows } = await connection.query<{ pid: number }>('select pg_backend_pid() as pid');
      way.strandFrom(portOf(connections.find((each) => processOf(each) === rows[0]?.pid)));
      hung.push(connection);
    }
    await write(events, connection, []);
  });
  await append();
  await isAt(1);
  await using _standby = await start(standing, write);
  await append();
  await append();
  await isAt(3);
  expect(hung).toHaveLength(1);
  const { rows } = await pool.query<{ position: number }>('select position from public.written order by 1');
  expect(rows.map(({ position }) => position)).toEqual([1, 2, 3]);
  const { rows: leases } = await pool.query<{ epoch: number }>(
    'select epoch from public.lease where name = $1',
    [FOLLOWER],
  );
  expect(leases[0]?.epoch).toBeGreaterThan(1);
});
