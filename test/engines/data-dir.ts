import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readCluster } from '#shared/database/embedded/cluster.ts';
import { stopPostmaster } from '#shared/database/embedded/postmaster.ts';

/** Names the run in the environment of its workers, so that all its folders can be found from its name. */
export const RUN = 'ANNALS_TEST_RUN';

const prefixOf = (run: string): string => `annals-test-${run}-`;

/** A data folder of its own, removed at the end with the server that was left running on it. */
export const temporaryDataDir = async (): Promise<AsyncDisposable & { readonly path: string }> => {
  const path = await mkdtemp(join(tmpdir(), prefixOf(process.env[RUN] ?? String(process.pid))));
  // The server's user must be able to enter when the tests run as root.
  await chmod(path, 0o755);
  return { path, [Symbol.asyncDispose]: () => removeDataDir(path) };
};

/** Removes all data folders of a run; answers whether there were any. */
export const removeDataDirsOf = async (run: string): Promise<boolean> => {
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(prefixOf(run)));
  await Promise.allSettled(names.map((name) => removeDataDir(join(tmpdir(), name))));
  return names.length > 0;
};

/** Stops what runs on a data folder and removes it, wherever its cluster lies. */
const removeDataDir = async (path: string): Promise<void> => {
  const cluster = await readCluster(path).catch(() => undefined);
  if (cluster !== undefined) {
    await stopPostmaster(cluster.pgdata);
    await rm(dirname(cluster.pgdata), { recursive: true, force: true, maxRetries: RETRIES_MAX });
  }
  await rm(path, { recursive: true, force: true, maxRetries: RETRIES_MAX });
};

/** A server that is being stopped still writes into its folder for a moment. */
const RETRIES_MAX = 5;
