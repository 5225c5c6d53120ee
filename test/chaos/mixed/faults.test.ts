import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { test as base, expect } from 'vitest';
import { until } from '../../../testing/until.ts';
import { temporaryDataDir } from '../../engines/data-dir.ts';
import { type PostgresServer, startPostgresServer } from './postgres-server.ts';

/** A fault that does nothing would prove nothing. */

const test = base
  .extend('settings', { scope: 'file' }, {} as Readonly<Record<string, string>>)
  .extend('server', { scope: 'file' }, async ({ settings }, { onCleanup }): Promise<PostgresServer> => {
    const server = await startPostgresServer(settings);
    onCleanup(() => server[Symbol.asyncDispose]());
    return server;
  })
  /** The outcome of a statement on a connection of its own. */
  .extend('outcomeOf', { scope: 'file' }, ({ server }) => async (statement: string): Promise<string> => {
    const client = new pg.Client({ connectionString: server.url });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query(statement);
      return 'done';
    } catch (error) {
      return (error as { code?: string }).code ?? 'cut off';
    } finally {
      await client.end().catch(() => {});
    }
  });

const WRITE = 'create table if not exists written (at timestamptz); insert into written values (now())';
/** More than a file may have. */
const MUCH = `create table if not exists much (text text);
  insert into much select repeat('x', 1000) from generate_series(1, 4000); checkpoint`;

test('without its connections, PostgreSQL refuses the next one', async ({ outcomeOf, server }) => {
  expect(await outcomeOf(WRITE)).toBe('done');
  {
    await using _taken = await server.takeConnections();
    await until(
      () => outcomeOf('select 1'),
      (code) => code === '53300',
    );
  }
  await until(
    () => outcomeOf(WRITE),
    (code) => code === 'done',
  );
});

test('a read-only PostgreSQL refuses writes', async ({ outcomeOf, server }) => {
  await server.allowWrites(false);
  await until(
    () => outcomeOf(WRITE),
    (code) => code === '25006',
  );
  expect(await outcomeOf('select 1')).toBe('done');
  await server.allowWrites(true);
  await until(
    () => outcomeOf(WRITE),
    (code) => code === 'done',
  );
});

test('a PostgreSQL whose disk refuses writes loses only what it did not acknowledge', async ({
  outcomeOf,
  server,
}) => {
  expect(await outcomeOf(WRITE)).toBe('done');
  await server.breakDisk();
  await until(
    () => outcomeOf(MUCH),
    (code) => code !== 'done',
  );
  await server.mendDisk();
  await until(
    () => outcomeOf(MUCH),
    (code) => code === 'done',
  );
  expect(await outcomeOf('select 1 / count(*) from written')).toBe('done');
});

test('a standby that replaces PostgreSQL has all that was acknowledged, on another timeline', async ({
  outcomeOf,
  server,
}) => {
  expect(await outcomeOf(WRITE)).toBe('done');
  await server.promoteStandby();
  expect(await outcomeOf('select 1 / count(*) from written')).toBe('done');
  expect(await outcomeOf(WRITE)).toBe('done');
  const replaced = `select 1 / (timeline_id - 1) from pg_control_checkpoint()`;
  expect(await outcomeOf(replaced)).toBe('done');
  await server.end('killed');
  expect(await outcomeOf(WRITE)).toBe('done');
});

test('the clock of a process is moved, and returns', async () => {
  await using folder = await temporaryDataDir();
  const file = join(folder.path, 'moved');
  const preload = new URL('moved-clock.ts', import.meta.url).href;
  const script = `setInterval(() => console.log(new Date().getTime(), Date.now(), new Date(5).getTime()), 50)`;
  const child = spawn(process.execPath, ['--import', preload, '--eval', script], {
    env: { ...process.env, CLOCK_MOVED_BY: file },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let aheadMs = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [one = 0, other = 0, five] = line.split(' ').map(Number);
    expect([Math.abs(one - other) < 1_000, five]).toEqual([true, 5]);
    aheadMs = one - Date.now();
  });
  try {
    for (const byMs of [3_600_000, -3_600_000, 0]) {
      await writeFile(file, String(byMs));
      await until(
        () => aheadMs,
        (ms) => Math.abs(ms - byMs) < 600_000,
      );
    }
  } finally {
    child.kill('SIGKILL');
  }
});
