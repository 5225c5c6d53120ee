import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { chmod, lstat, mkdir, readFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { extname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { fetchBinaries } from '#adapters/embedded-postgres/binaries.ts';
import { connectEmbeddedPostgres } from '#adapters/embedded-postgres/embedded.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { KEPT } from './kept.ts';

type Where = {
  /** For the server's data; by default one for each user and version of Annals. */
  readonly folder?: string;
  /** How long the server stays without tests. */
  readonly idleMaxMs?: number;
};

const IDLE_MAX_MS = 180_000;
const STARTING_MAX_MS = 60_000;
const LOOK_MS = 25;

/**
 * A database of one's own in the PostgreSQL that all tests of a user share. A session lock holds it, so that
 * databases of killed tests are recognised: the next test drops them.
 */
export const createTestDatabase = async ({
  folder = ownFolder(),
  idleMaxMs = IDLE_MAX_MS,
}: Where = {}): Promise<AsyncDisposable & { readonly url: string }> => {
  // Its keeper must start within a minute.
  await fetchBinaries({ log: (line) => void process.stderr.write(`${line}\n`) });
  const { client, url } = await holdServer(await demandOwn(folder), idleMaxMs);
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  try {
    await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [name]);
    await client.query(`create database ${name} template template0 strategy file_copy`);
    await dropAbandoned(client, name);
  } catch (error) {
    await client.end();
    throw error;
  }
  const own = new URL(url);
  own.pathname = `/${name}`;
  return {
    url: own.href,
    async [Symbol.asyncDispose]() {
      try {
        await client.query(`drop database if exists ${name} with (force)`);
      } finally {
        await client.end();
      }
    },
  };
};

/**
 * Specific to this installation: the server runs programs from its folder, and must end before they
 * disappear.
 */
const ownFolder = (): string => {
  const place = createHash('sha256')
    .update(import.meta.url)
    .digest('hex')
    .slice(0, PLACE_DIGITS);
  return join(tmpdir(), `annals-testing-${userInfo().username}-${packageJson.version}-${place}`);
};
const PLACE_DIGITS = 8;

/** The folder's name can be guessed, so somebody else may have made it. */
const demandOwn = async (folder: string): Promise<string> => {
  await mkdir(folder, { recursive: true });
  const found = await lstat(folder);
  if (!found.isDirectory() || (process.getuid !== undefined && found.uid !== process.getuid()))
    throw new StartRefused(
      `${folder}, the folder of your tests' PostgreSQL, belongs to another user: set TMPDIR to another folder.`,
    );
  // The server's user must be able to enter it.
  await chmod(folder, 0o755);
  return folder;
};

type Held = { readonly client: pg.Client; readonly url: string };

const holdServer = async (folder: string, idleMaxMs: number): Promise<Held> => {
  const deadline = performance.now() + STARTING_MAX_MS;
  let keeper: Keeper | undefined;
  while (performance.now() < deadline) {
    const url = await connectEmbeddedPostgres(folder);
    const held = url === undefined ? undefined : await hold(url);
    if (held !== undefined) return held;
    if (keeper?.end === 'failed') break;
    if (url === undefined && keeper?.end !== undefined) keeper = undefined;
    if (url === undefined) keeper ??= startKeeper(folder, idleMaxMs);
    await delay(LOOK_MS);
  }
  throw new StartRefused(
    `The PostgreSQL of your tests in ${folder} did not start.${await lastWordsOf(folder)}`,
  );
};

/** Undefined if the server was about to stop. */
const hold = async (connectionString: string): Promise<Held | undefined> => {
  const client = new pg.Client({ connectionString, application_name: 'annals-testing' });
  // A broken connection fails the next query.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select pg_advisory_lock_shared($1)', [KEPT]);
    return { client, url: connectionString };
  } catch {
    await client.end().catch(() => {});
    return undefined;
  }
};

const SAYS = 'keeper.txt';

type Keeper = { end?: 'failed' | 'over' };

/** Outlives this process, and ends by itself. */
const startKeeper = (folder: string, idleMaxMs: number): Keeper => {
  const says = openSync(join(folder, SAYS), 'w');
  const program = fileURLToPath(new URL(`./keeper${extname(import.meta.url)}`, import.meta.url));
  const child = spawn(process.execPath, [program, folder, String(idleMaxMs)], {
    detached: true,
    stdio: ['ignore', 'ignore', says],
  });
  closeSync(says);
  child.unref();
  const keeper: Keeper = {};
  child.once('error', () => {
    keeper.end = 'failed';
  });
  child.once('exit', (code) => {
    keeper.end = code === 1 ? 'failed' : 'over';
  });
  return keeper;
};

const lastWordsOf = async (folder: string): Promise<string> => {
  const text = await readFile(join(folder, SAYS), 'utf8').catch(() => '');
  return text === '' ? '' : ` ${text.trim()}`;
};

const dropAbandoned = async (client: pg.Client, own: string): Promise<void> => {
  const { rows } = await client.query<{ name: string }>(
    String.raw`select datname as name from pg_database where datname like 'test\_%' and datname <> $1`,
    [own],
  );
  for (const { name } of rows) {
    const { rows: locks } = await client.query<{ isFree: boolean }>(
      'select pg_try_advisory_lock(hashtextextended($1, 0)) as "isFree"',
      [name],
    );
    if (!locks[0]?.isFree) continue;
    await client.query(`drop database if exists ${name} with (force)`);
    await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', [name]);
  }
};
