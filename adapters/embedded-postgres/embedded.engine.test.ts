// Takes minutes, so it starts first.
// Over 200 lines, because every end of a server is tested with the one program that is set up here.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { temporaryDataDir } from '../../test/engines/data-dir.ts';
import { scaled } from '../../testing/load.ts';
import { SYSTEM_FOLDER } from './binaries.ts';
import { readCluster } from './cluster.ts';
import { connectEmbeddedPostgres, startEmbeddedPostgres } from './embedded.ts';
import { DataDirInUse, EmbeddedPostgresFailed } from './errors.ts';
import { readPostmaster } from './postmaster.ts';

const asRoot = process.getuid?.() === 0;
const settings = { fsync: 'off' };
const start = (dataDir: string) => startEmbeddedPostgres({ dataDir, settings });

const query = async (url: string, sql: string): Promise<unknown[]> => {
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
};

const pgdataOf = async (dataDir: string): Promise<string> => {
  const cluster = await readCluster(dataDir);
  if (cluster === undefined) throw new Error(`${dataDir} has no cluster`);
  return cluster.pgdata;
};

/** Another process that owns a data folder; it is killed at the end if it still lives. */
const startOwner = async (
  dataDir: string,
): Promise<AsyncDisposable & { child: ChildProcess; url: string }> => {
  const program = fileURLToPath(new URL('../../test/engines/embedded-owner.ts', import.meta.url));
  const child = spawn(process.execPath, [program, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const [url] = await once(createInterface(child.stdout), 'line');
  return {
    child,
    url,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
};

test('the database of a first start is UTF8, sorts by code point, and asks for the password', async () => {
  await using dataDir = await temporaryDataDir();
  await using server = await start(dataDir.path);
  const rows = await query(
    server.url,
    `select current_database() as database, current_setting('server_encoding') as encoding, datlocprovider as provider, datlocale as locale,
            lower('ÄÖ') as lower, current_setting('listen_addresses') as addresses, current_setting('unix_socket_directories') as sockets
       from pg_database where datname = current_database()`,
  );
  const common = { database: 'annals', encoding: 'UTF8', provider: 'b', locale: 'C.UTF-8' };
  expect(rows).toEqual([{ ...common, lower: 'äö', addresses: '127.0.0.1', sockets: '' }]);
  const wrong = new URL(server.url);
  wrong.password = 'wrong';
  await expect(query(wrong.href, 'select 1')).rejects.toMatchObject({ code: '28P01' });
});

test('the default settings are durable', async () => {
  await using dataDir = await temporaryDataDir();
  await using server = await startEmbeddedPostgres({ dataDir: dataDir.path });
  const rows = await query(
    server.url,
    `select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes')`,
  );
  expect(rows).toHaveLength(3);
  expect(rows).toEqual(
    expect.arrayContaining([
      { name: 'fsync', setting: 'on' },
      { name: 'synchronous_commit', setting: 'on' },
    ]),
  );
});

test('only the user who started it can read the password and the log', async () => {
  await using dataDir = await temporaryDataDir();
  await using _server = await start(dataDir.path);
  for (const file of ['postgres.json', 'postgres.log'])
    expect((await stat(join(dataDir.path, file))).mode & 0o777).toBe(0o600);
});

test('a second start finds the data of the first, and the server is gone in between', async () => {
  await using dataDir = await temporaryDataDir();
  {
    await using first = await start(dataDir.path);
    await query(first.url, 'create table kept as select 42 as answer');
  }
  expect(await readPostmaster(await pgdataOf(dataDir.path))).toBeUndefined();
  await using second = await start(dataDir.path);
  expect(second.adopted).toBe(false);
  expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
});

test('a second owner is refused, and the first continues', async () => {
  await using dataDir = await temporaryDataDir();
  await using first = await start(dataDir.path);
  const second = start(dataDir.path);
  await expect(second).rejects.toThrow(DataDirInUse);
  await expect(second).rejects.toThrow(`in use by another Annals process (process ${process.pid})`);
  expect(await query(first.url, 'select 1 as one')).toEqual([{ one: 1 }]);
});

test('of several concurrent first starts one wins, and the others leave nothing behind', async () => {
  await using dataDir = await temporaryDataDir();
  const starts = await Promise.allSettled(Array.from({ length: 3 }, () => start(dataDir.path)));
  await using winners = new AsyncDisposableStack();
  const servers = starts.flatMap((result) =>
    result.status === 'fulfilled' ? [winners.use(result.value)] : [],
  );
  expect(servers).toHaveLength(1);
  for (const result of starts)
    if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(DataDirInUse);
  expect((await readdir(dataDir.path)).filter((name) => /^postgres-|\.json\./.test(name))).toHaveLength(1);
});

test('a server whose owner was killed is adopted with its data', async () => {
  await using dataDir = await temporaryDataDir();
  await using owner = await startOwner(dataDir.path);
  await query(owner.url, 'create table kept as select 42 as answer');
  const before = await readPostmaster(await pgdataOf(dataDir.path));
  await owner[Symbol.asyncDispose]();
  await using heir = await start(dataDir.path);
  expect(heir.adopted).toBe(true);
  expect(await readPostmaster(await pgdataOf(dataDir.path))).toEqual(before);
  expect(await query(heir.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
});

test('an adopted server is stopped by its adopter', async () => {
  await using dataDir = await temporaryDataDir();
  await using owner = await startOwner(dataDir.path);
  await owner[Symbol.asyncDispose]();
  await using heir = await start(dataDir.path);
  await heir[Symbol.asyncDispose]();
  expect(await readPostmaster(await pgdataOf(dataDir.path))).toBeUndefined();
});

test('only the server of a living owner is found', async () => {
  await using dataDir = await temporaryDataDir();
  expect(await connectEmbeddedPostgres(join(dataDir.path, 'absent'))).toBeUndefined();
  expect(await connectEmbeddedPostgres(dataDir.path)).toBeUndefined();
  await using owner = await startOwner(dataDir.path);
  expect(await connectEmbeddedPostgres(dataDir.path)).toBe(owner.url);
  await owner[Symbol.asyncDispose]();
  // The server ends the dead owner’s session a moment after the death.
  await vi.waitFor(async () => expect(await connectEmbeddedPostgres(dataDir.path)).toBeUndefined(), {
    timeout: scaled(5_000),
  });
});

test('a server that was killed is restarted at the same address', async () => {
  await using dataDir = await temporaryDataDir();
  const logged: string[] = [];
  await using server = await startEmbeddedPostgres({
    dataDir: dataDir.path,
    log: (message) => void logged.push(message),
  });
  await query(server.url, 'create table kept as select 42 as answer');
  const before = await readPostmaster(await pgdataOf(dataDir.path));
  process.kill(before?.pid ?? Number.NaN, 'SIGKILL');
  await vi.waitFor(
    async () => expect(await query(server.url, 'select answer from kept')).toEqual([{ answer: 42 }]),
    {
      timeout: scaled(20_000),
    },
  );
  expect((await readPostmaster(await pgdataOf(dataDir.path)))?.pid).not.toBe(before?.pid);
  // The server responds a moment before it has its owner again.
  await vi.waitFor(() => expect(logged).toContain('The embedded PostgreSQL is back.'), {
    timeout: scaled(20_000),
  });
  await expect(start(dataDir.path)).rejects.toThrow(DataDirInUse);
});

test('a pid file that names another program does not keep the server from starting', async () => {
  await using dataDir = await temporaryDataDir();
  await (await start(dataDir.path))[Symbol.asyncDispose]();
  const pidFile = join(await pgdataOf(dataDir.path), 'postmaster.pid');
  await writeFile(
    pidFile,
    [process.pid, await pgdataOf(dataDir.path), 1, 5432, '', '127.0.0.1', '1 1', 'ready'].join('\n'),
  );
  await using server = await start(dataDir.path);
  expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
});

test('a server that does not start is one sentence with the end of its log', async () => {
  await using dataDir = await temporaryDataDir();
  const wrong = startEmbeddedPostgres({
    dataDir: dataDir.path,
    settings: { ...settings, no_such_setting: '1' },
  });
  await expect(wrong).rejects.toThrow(EmbeddedPostgresFailed);
  await expect(wrong).rejects.toThrow('no_such_setting');
});

test('a record whose cluster is missing is refused, not created again', async () => {
  await using dataDir = await temporaryDataDir();
  await writeFile(
    join(dataDir.path, 'postgres.json'),
    JSON.stringify({ pgdata: '/nowhere/data', user: 'annals', password: 'x' }),
  );
  await expect(start(dataDir.path)).rejects.toThrow('is missing or damaged');
});

test.runIf(asRoot)(
  'as root, the cluster of a data folder that only root can enter is elsewhere (skipped unless run as root)',
  async () => {
    await using dataDir = await temporaryDataDir();
    await chmod(dataDir.path, 0o700);
    const lines: string[] = [];
    await using server = await startEmbeddedPostgres({
      dataDir: dataDir.path,
      settings,
      log: (line) => lines.push(line),
    });
    expect(await pgdataOf(dataDir.path)).toMatch(new RegExp(`^${SYSTEM_FOLDER}/`));
    expect(lines).toEqual([expect.stringContaining(SYSTEM_FOLDER)]);
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await readFile(join(dataDir.path, 'postgres.log'), 'utf8')).toContain(
      'ready to accept connections',
    );
  },
);
