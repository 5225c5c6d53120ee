import { execFile } from 'node:child_process';
import { appendFile, chown, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type pg from 'pg';
import { findBinaries } from '#adapters/embedded-postgres/binaries.ts';
import { type Cluster, readCluster } from '#adapters/embedded-postgres/cluster.ts';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { stopPostmaster } from '#adapters/embedded-postgres/postmaster.ts';
import { spawnServer } from '#adapters/embedded-postgres/programs.ts';
import { inDatabase } from '../../../testing/database/search-everywhere.ts';
import { until } from '../../../testing/until.ts';

/** A server that waits to replace another. */
type Standby = {
  /** Makes it a primary, and stops it, so that an owner of its folder can start it. */
  promote(): Promise<void>;
};

type Primary = {
  readonly dataDir: string;
  /** Direct, of a database that always exists. */
  readonly url: string;
  readonly settings: Readonly<Record<string, string>>;
};

const NAME = 'standby';
const FOLLOWS_WITHIN_MS = 60_000;
/** Not of the files of a standby. */
const OWN_ENTRIES = new Set(['pg_wal', 'pg_replslot', 'postmaster.pid', 'postmaster.opts']);

/**
 * Copies an embedded server into a folder, which then holds a synchronous standby of it: from now on the
 * primary acknowledges no commit that the standby does not have on its disk. The embedded PostgreSQL has no
 * `pg_basebackup`.
 */
export const startStandby = async (primary: Primary, folder: string): Promise<Standby> => {
  const cluster = await readCluster(primary.dataDir);
  if (cluster === undefined) throw new Error(`${primary.dataDir} has no database`);
  const { user, postgres } = await findBinaries(cluster.uid);
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  const home = join(folder, 'postgres-standby');
  const pgdata = join(home, 'data');
  await mkdir(pgdata, { recursive: true, mode: 0o700 });
  const { user: name, password } = cluster;
  await writeFile(join(folder, 'postgres.json'), JSON.stringify({ pgdata, user: name, password }));
  await copyFiles(primary, cluster, pgdata);
  await followIn(pgdata, cluster, new URL(primary.url).port);
  if (user !== undefined) await promisify(execFile)('chown', ['-R', `${user.uid}:${user.gid}`, home]);
  const port = await freePort();
  const options = { ...primary.settings, port, listen_addresses: '127.0.0.1', unix_socket_directories: '' };
  const args = Object.entries(options).flatMap(([setting, value]) => ['-c', `${setting}=${value}`]);
  await spawnServer({
    program: postgres,
    args: ['-D', pgdata, ...args],
    user,
    logPath: join(folder, 'standby.log'),
  });
  await demandSynchronous(primary.url).catch(async (error: unknown) => {
    await stopPostmaster(pgdata);
    throw error;
  });
  const url = Object.assign(new URL(primary.url), { port: String(port) }).href;
  return {
    async promote() {
      await inDatabase(url, (client) => client.query('select pg_promote()'));
      await stopPostmaster(pgdata);
    },
  };
};

/** A base backup by the low-level functions; the slot keeps the log that is needed to complete it. */
const copyFiles = ({ url }: Primary, cluster: Cluster, to: string): Promise<void> =>
  inDatabase(url, async (client: pg.Client) => {
    await client.query(`select pg_create_physical_replication_slot('${NAME}', true)`);
    await client.query(`select pg_backup_start('${NAME}', true)`);
    // A file may vanish meanwhile; the log has what it was for.
    for (const entry of await readdir(cluster.pgdata))
      if (!OWN_ENTRIES.has(entry))
        await promisify(execFile)('cp', ['-a', join(cluster.pgdata, entry), to]).catch(() => {});
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    await writeFile(join(to, 'backup_label'), rows[0]?.labelfile ?? '');
    await mkdir(join(to, 'pg_replslot'));
    await mkdir(join(to, 'pg_wal', 'archive_status'), { recursive: true });
    await mkdir(join(to, 'pg_wal', 'summaries'));
  });

const followIn = async (pgdata: string, { user, password }: Cluster, port: string): Promise<void> => {
  const from = `host=127.0.0.1 port=${port} user=${user} password=${password} application_name=${NAME}`;
  await appendFile(
    join(pgdata, 'postgresql.auto.conf'),
    `primary_conninfo = '${from}'\nprimary_slot_name = '${NAME}'\n`,
  );
  await rm(join(pgdata, 'standby.signal'), { force: true });
  await writeFile(join(pgdata, 'standby.signal'), '');
};

/** After its files were copied, so that it waits for no standby itself once it is promoted. */
const demandSynchronous = (url: string): Promise<void> =>
  inDatabase(url, async (client) => {
    const isIn = (state: string) =>
      until(
        () => client.query(`select from pg_stat_replication where application_name = '${NAME}' and ${state}`),
        ({ rowCount }) => rowCount === 1,
        FOLLOWS_WITHIN_MS,
      );
    await isIn(`state = 'streaming'`);
    await client.query(`alter system set synchronous_standby_names = '${NAME}'`);
    await client.query('select pg_reload_conf()');
    await isIn(`sync_state = 'sync'`);
  });
