import { realpath } from 'node:fs/promises';
import pg from 'pg';
import { demandFolder, narrowDataFolder } from '#shared/folder.ts';
import { findBinaries } from './binaries.ts';
import { createCluster, readCluster } from './cluster.ts';
import { isOwned, urlOf } from './owner-lock.ts';
import { type EmbeddedLog, Ownership } from './ownership.ts';
import { readPostmaster } from './postmaster.ts';

type EmbeddedPostgres = AsyncDisposable & {
  /** The connection string of the database `annals`. */
  readonly url: string;
  /** Whether the server was adopted from an owner that ended without stopping it. */
  readonly adopted: boolean;
  /** The reason why the server cannot run now, for public display; the owner retries until it runs. */
  readonly trouble: () => string | undefined;
};

type EmbeddedPostgresOptions = {
  readonly dataDir: string;
  /** Server settings that override the durable defaults; they have no effect on an adopted server. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly log?: EmbeddedLog;
  /** Aborts the creation of the database. */
  readonly signal?: AbortSignal;
};

/** The one database of all roles. */
const DATABASE = 'annals';

/**
 * Starts the PostgreSQL server of a data folder, created on the first start, and owns it until disposed: a
 * second owner is refused by `DataDirInUse`. Disposal stops the server; an owner that was killed leaves it
 * running, and the next one adopts it.
 */
export const startEmbeddedPostgres = async ({
  dataDir,
  settings = {},
  log = () => {},
  signal,
}: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> => {
  await demandFolder(dataDir, 'DATA_DIR');
  const folder = await realpath(dataDir);
  const existing = await readCluster(folder);
  // The record shows that the folder is ours alone.
  if (existing !== undefined) await narrowDataFolder(folder);
  const binaries = await findBinaries(existing?.uid, { log, signal });
  const cluster =
    existing ??
    (await createCluster({ dataDir: folder, binaries, durable: settings.fsync !== 'off', log, signal }));
  const ownership = await Ownership.take({ dataDir: folder, cluster, binaries, settings, log });
  try {
    await ensureDatabase(urlOf(cluster, ownership.port, 'postgres'));
  } catch (error) {
    await ownership[Symbol.asyncDispose]();
    throw error;
  }
  return {
    url: urlOf(cluster, ownership.port, DATABASE),
    adopted: ownership.adopted,
    trouble: () => ownership.trouble,
    [Symbol.asyncDispose]: () => ownership[Symbol.asyncDispose](),
  };
};

/** Whether a data folder has a database. */
export const hasEmbeddedPostgres = async (dataDir: string): Promise<boolean> => {
  const folder = await realpath(dataDir).catch(() => undefined);
  return folder !== undefined && (await readCluster(folder)) !== undefined;
};

/**
 * Returns the connection string of the server that another process runs on a data folder, or undefined if no
 * owner is alive.
 */
export const connectEmbeddedPostgres = async (dataDir: string): Promise<string | undefined> => {
  const folder = await realpath(dataDir).catch(() => undefined);
  const cluster = folder === undefined ? undefined : await readCluster(folder);
  const postmaster = cluster && (await readPostmaster(cluster.pgdata));
  if (cluster === undefined || postmaster?.ready !== true) return undefined;
  return (await isOwned(cluster, postmaster.port)) ? urlOf(cluster, postmaster.port, DATABASE) : undefined;
};

/** Only the owner comes here, so nobody else creates it between check and creation. */
const ensureDatabase = async (url: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    const found = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
    if (found.rowCount === 0) await client.query(`create database ${DATABASE}`);
  } finally {
    await client.end();
  }
};
