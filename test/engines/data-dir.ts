import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readCluster } from '#shared/database/embedded/cluster.ts';
import { stopPostmaster } from '#shared/database/embedded/postmaster.ts';

const PREFIX = 'annals-test-';
/** A folder of a process that is gone is swept only after this long, lest it be one that lives where we cannot see it. */
const ABANDONED_AFTER_MS = 600_000;

/** A data folder of its own, removed at the end with the server that was left running on it. */
export const temporaryDataDir = async (): Promise<AsyncDisposable & { readonly path: string }> => {
  const path = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  // The server's user must be able to enter when the tests run as root.
  await chmod(path, 0o755);
  return { path, [Symbol.asyncDispose]: () => removeDataDir(path) };
};

/** Stops what runs on a data folder and removes it, wherever its cluster lies. */
const removeDataDir = async (path: string): Promise<void> => {
  const cluster = await readCluster(path).catch(() => undefined);
  if (cluster !== undefined) {
    await stopPostmaster(cluster.pgdata);
    await rm(dirname(cluster.pgdata), { recursive: true, force: true });
  }
  await rm(path, { recursive: true, force: true });
};

/** Removes what runs that were killed have left behind. */
export const sweepDataDirs = async (): Promise<void> => {
  for (const name of (await readdir(tmpdir())).filter((entry) => entry.startsWith(PREFIX))) {
    const path = join(tmpdir(), name);
    const owner = Number(name.slice(PREFIX.length).split('-')[0]);
    const { mtimeMs, uid } = await stat(path);
    const abandoned = uid === process.getuid?.() && !isAlive(owner) && Date.now() - mtimeMs > ABANDONED_AFTER_MS;
    if (abandoned) await removeDataDir(path);
  }
};

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
