import { execFile } from 'node:child_process';
import { appendFile, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, expect, inject, test } from 'vitest';
import { connectEmbeddedPostgres } from '#adapters/embedded-postgres/embedded.ts';
import { findServerUser } from '#adapters/embedded-postgres/server-user.ts';
import { inDatabase } from '../../testing/database/search-everywhere.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { startAnnals } from '../annals-process.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { createDatabase, type TestDatabase } from '../engines/database.ts';

// Own server: it fills the disk of one process.

/** Room for a database and a few files of its write-ahead log. */
const SIZE = '220m';
const LEFT_BYTES = 65_536;
const FILL_EVERY_MS = 20;
const MESSAGE_BYTES = 4_000_000;
const MESSAGES_MAX = 100;

const run = promisify(execFile);

/** A disk of its own, unmounted at the end; or why there is none. */
const mountSmallDisk = async (path: string, options = 'mode=0755'): Promise<AsyncDisposable | string> => {
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},${options}`, 'tmpfs', path]);
  } catch (error) {
    return `a file system in memory cannot be mounted: ${(error as Error).message.trim()}`;
  }
  return { [Symbol.asyncDispose]: async () => void (await run('umount', ['--lazy', path])) };
};

/** Uses all space, also what PostgreSQL frees when it stops, until disposed. */
const keepFull = (path: string): AsyncDisposable => {
  const filler = join(path, 'filler');
  const stopping = new AbortController();
  const fill = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const { bavail, bsize } = await statfs(path);
      const bytes = bavail * bsize - LEFT_BYTES;
      if (bytes > 0) await appendFile(filler, Buffer.alloc(bytes)).catch(() => {});
      await delay(FILL_EVERY_MS, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const filling = fill();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await filling;
      await rm(filler, { force: true });
    },
  };
};

/** Writes only into the write-ahead log until PostgreSQL has no space for its next file, and stops. */
const writeUntilItStops = async (url: string): Promise<void> => {
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  try {
    for (let times = 0; times < MESSAGES_MAX; times += 1)
      await client.query(`select pg_logical_emit_message(true, 'fill', repeat('x', ${MESSAGE_BYTES}))`);
  } finally {
    await client.end().catch(() => {});
  }
};

const readiness = async (url: string) => {
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, body: await response.text() };
};

/** Unmounts everything even after a timeout of a test. */
const resources = new AsyncDisposableStack();
afterAll(() => resources.disposeAsync());

test('a full disk has no lasting effect once it has space: until then, log and readiness give the reason', {
  timeout: scaled(300_000),
}, async ({ skip }) => {
  const dataDir = resources.use(await temporaryDataDir());
  const mounted = await mountSmallDisk(dataDir.path);
  if (typeof mounted === 'string') return skip(mounted);
  resources.use(mounted);
  const annals = resources.use(await startAnnals({ DATA_DIR: dataDir.path }));
  const databaseUrl = await connectEmbeddedPostgres(dataDir.path);
  if (databaseUrl === undefined) throw new Error('the embedded database runs');
  {
    await using _filler = keepFull(dataDir.path);
    await expect(writeUntilItStops(databaseUrl)).rejects.toThrow();
    const { body } = await until(
      () => readiness(annals.url),
      ({ status, body: shown }) => status === 503 && shown.includes('The disk of the database is full.'),
      60_000,
    );
    expect(JSON.parse(body)).toMatchObject({
      checks: { database: 'fail' },
      reasons: { database: 'The disk of the database is full.' },
    });
    // The process has reported the full disk more than once by then.
    await until(
      annals.output,
      (output) => (output.match(/"level":"error"[^\n]*The disk of [^\n]* is full/g) ?? []).length > 1,
      60_000,
    );
  }
  await until(
    () => readiness(annals.url),
    ({ status }) => status === 200,
    60_000,
  );
  expect((await fetch(`${annals.url}/articles`)).status).toBe(200);
  annals.child.kill('SIGTERM');
  expect(await annals.exited).toBe(0);
});

test('while the disk is full but the database still reads, roles that write are not ready', {
  timeout: scaled(300_000),
}, async ({ skip }) => {
  const dataDir = resources.use(await temporaryDataDir());
  const place = resources.use(await temporaryDataDir());
  const server = await findServerUser(undefined);
  const mounted = await mountSmallDisk(
    place.path,
    `mode=0700,uid=${server?.uid ?? 0},gid=${server?.gid ?? 0}`,
  );
  if (typeof mounted === 'string') return skip(mounted);
  resources.use(mounted);
  const database = resources.use(await createDatabase());
  const tablespace = resources.use(await moveTo(database, place.path));
  const annals = resources.use(await startAnnals({ DATA_DIR: dataDir.path, DATABASE_URL: database.url }));
  {
    await using _filler = keepFull(place.path);
    const { body } = await until(
      () => readiness(annals.url),
      ({ status, body: shown }) => status === 503 && shown.includes('The disk of the database is full.'),
      60_000,
    );
    expect(JSON.parse(body)).toMatchObject({
      checks: { database: 'fail' },
      reasons: { database: 'The disk of the database is full.' },
    });
    expect((await fetch(`${annals.url}/articles`)).status).toBe(200);
  }
  await until(
    () => readiness(annals.url),
    ({ status }) => status === 200,
    60_000,
  );
  annals.child.kill('SIGTERM');
  expect(await annals.exited).toBe(0);
  await tablespace[Symbol.asyncDispose]();
});

/**
 * The tables of the database are on a disk of their own, and the write-ahead log always has space. Moved back
 * at the end.
 */
const moveTo = async ({ name }: TestDatabase, path: string): Promise<AsyncDisposable> => {
  const server = inject('postgresUrl');
  const execute = (statements: readonly string[]) =>
    inDatabase(server, async (client) => {
      for (const statement of statements) await client.query(statement);
    });
  await execute([
    `create tablespace ${name} location '${path}'`,
    `alter database ${name} set tablespace ${name}`,
  ]);
  let moved: Promise<void> | undefined;
  const moveBack = () =>
    execute([`alter database ${name} set tablespace pg_default`, `drop tablespace ${name}`]);
  return {
    [Symbol.asyncDispose]: () => {
      moved ??= moveBack();
      return moved;
    },
  };
};
