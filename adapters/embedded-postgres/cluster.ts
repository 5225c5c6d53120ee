import { createHash, randomBytes } from 'node:crypto';
import { chown, link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { type Binaries, SYSTEM_FOLDER } from './binaries.ts';
import { EmbeddedPostgresFailed } from './errors.ts';
import { runProgram } from './programs.ts';
import { randomSuffix } from './random-suffix.ts';
import { canEnter } from './server-user.ts';

/**
 * The content of `DATA_DIR/postgres.json`. It is written once; the port of a running server is in its
 * `postmaster.pid`.
 */
const Record = z.object({ pgdata: z.string(), user: z.string(), password: z.string() });
const RECORD = 'postgres.json';

export type Cluster = z.infer<typeof Record> & { readonly uid: number };

/** Returns the cluster of a data folder, or undefined before the first start. */
export const readCluster = async (dataDir: string): Promise<Cluster | undefined> => {
  const path = join(dataDir, RECORD);
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT' || cause.code === 'ENOTDIR') return undefined;
    throw new EmbeddedPostgresFailed(
      `Cannot read ${path}: start as the user who owns it, or set DATA_DIR to another folder.`,
      { cause },
    );
  });
  if (text === undefined) return undefined;
  try {
    const record = Record.parse(JSON.parse(text));
    const pgdata = whereNow(dataDir, record);
    return { ...record, pgdata, uid: (await stat(pgdata)).uid };
  } catch (cause) {
    const advice = `restore it from a backup, or set DATA_DIR to another folder`;
    throw new EmbeddedPostgresFailed(`The database that ${path} names is missing or damaged: ${advice}.`, {
      cause,
    });
  }
};

/**
 * A cluster inside a data folder is looked up in that folder alone: a copy, as of a backup, must never open
 * the database of the original.
 */
const whereNow = (dataDir: string, { pgdata }: z.infer<typeof Record>): string => {
  const home = basename(dirname(pgdata));
  return home.startsWith(INSIDE) ? join(dataDir, home, basename(pgdata)) : pgdata;
};

const INSIDE = 'postgres-';

type NewCluster = {
  readonly dataDir: string;
  readonly binaries: Binaries;
  readonly durable: boolean;
  readonly log: (message: string) => void;
  readonly signal: AbortSignal | undefined;
};

/**
 * Creates a cluster in a folder of its own. The record appears complete and only once, and decides which of
 * several concurrent first starts wins. A start that is killed half way leaves a folder that nothing refers
 * to.
 */
export const createCluster = async ({
  dataDir,
  binaries,
  durable,
  log,
  signal,
}: NewCluster): Promise<Cluster> => {
  const home = await makeHome(dataDir, binaries);
  const record = {
    pgdata: join(home, 'data'),
    user: 'annals',
    password: randomBytes(24).toString('base64url'),
  };
  try {
    await initialize(home, record, { binaries, durable, signal });
    if (await publish(dataDir, record)) {
      log(`The database of ${dataDir} was created in ${home}.`);
      return { ...record, uid: (await stat(record.pgdata)).uid };
    }
  } catch (error) {
    await rm(home, { recursive: true, force: true });
    throw error;
  }
  await rm(home, { recursive: true, force: true });
  const winner = await readCluster(dataDir);
  if (winner === undefined)
    throw new EmbeddedPostgresFailed(
      `The data folder ${dataDir} was removed while it was being set up: start again.`,
    );
  return winner;
};

/**
 * A folder that only the server’s user can enter; outside the data folder if that user cannot enter the data
 * folder.
 */
const makeHome = async (dataDir: string, { user }: Binaries): Promise<string> => {
  const inside = user === undefined || (await canEnter(user, dataDir));
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  const home = inside
    ? join(dataDir, `${INSIDE}${randomSuffix()}`)
    : join(SYSTEM_FOLDER, `${hash}-${randomSuffix()}`);
  if (!inside) await mkdir(SYSTEM_FOLDER, { recursive: true, mode: 0o755 });
  await mkdir(home, { mode: 0o700 });
  if (user !== undefined) await chown(home, user.uid, user.gid);
  return home;
};

/**
 * Texts sort and compare alike on every machine: PostgreSQL’s own C.UTF-8 needs no locale of the operating
 * system.
 */
const LOCALE = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];

const initialize = async (
  home: string,
  { pgdata, user, password }: z.infer<typeof Record>,
  { binaries, durable, signal }: Pick<NewCluster, 'binaries' | 'durable' | 'signal'>,
): Promise<void> => {
  const passwordFile = join(home, 'password');
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  if (binaries.user !== undefined) await chown(passwordFile, binaries.user.uid, binaries.user.gid);
  const access = [`--username=${user}`, '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  const sync = durable ? [] : ['--no-sync'];
  const args = [`--pgdata=${pgdata}`, ...access, ...LOCALE, '--no-instructions', ...sync];
  await runProgram(binaries.initdb, args, { user: binaries.user, signal });
  await rm(passwordFile);
};

/** A hard link fails if the name is taken, so only one record is ever published. */
const publish = async (dataDir: string, record: z.infer<typeof Record>): Promise<boolean> => {
  const path = join(dataDir, RECORD);
  const temporary = `${path}.${randomSuffix()}`;
  await writeFile(temporary, `${JSON.stringify(record, undefined, 2)}\n`, { mode: 0o600, flush: true });
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
};
