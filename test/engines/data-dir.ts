import { chmod, mkdtemp, readdir, readFile, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readCluster } from '#adapters/embedded-postgres/cluster.ts';
import { stopPostmaster } from '#adapters/embedded-postgres/postmaster.ts';

/** Names the run in the environment of its workers, so that all its folders can be found by its name. */
export const RUN = 'ANNALS_TEST_RUN';

/** Files in memory, if Linux has them: making a database there takes a tenth of the time on a disk. */
const IN_MEMORY = '/dev/shm';
const FREE_BYTES_MIN = 1_000_000_000;

const prefixOf = (run: string): string => `annals-test-${run}-`;

/** A data folder of its own, removed at the end with any server still running on it. */
export const temporaryDataDir = async (): Promise<AsyncDisposable & { readonly path: string }> => {
  const path = await mkdtemp(join(await roomiest(), prefixOf(process.env[RUN] ?? String(process.pid))));
  // The server's user must be able to enter if the tests run as root.
  await chmod(path, 0o755);
  return { path, [Symbol.asyncDispose]: () => removeDataDir(path) };
};

/** Containers often have too little memory for files; then the folder for temporary files is used. */
const roomiest = async (): Promise<string> => {
  const memory = await statfs(IN_MEMORY).catch(() => undefined);
  return memory !== undefined && memory.bavail * memory.bsize >= FREE_BYTES_MIN ? IN_MEMORY : tmpdir();
};

/**
 * Ends the roles of a killed run, which would run for ever. Their environment names a folder of the run, if
 * the system shows it (Linux).
 */
export const killRolesOf = async (run: string): Promise<void> => {
  const numbers = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  for (const pid of numbers) {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (environment.split('\0').some((each) => each.startsWith('DATA_DIR=') && each.includes(prefixOf(run))))
      kill(Number(pid));
  }
};

const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended by itself.
  }
};

/** Removes all data folders of a run; returns whether there were any. */
export const removeDataDirsOf = async (run: string): Promise<boolean> => {
  const paths = (await Promise.all([tmpdir(), IN_MEMORY].map((folder) => dataDirsIn(folder, run)))).flat();
  await Promise.allSettled(paths.map(removeDataDir));
  return paths.length > 0;
};

const dataDirsIn = async (folder: string, run: string): Promise<readonly string[]> => {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => name.startsWith(prefixOf(run))).map((name) => join(folder, name));
};

/** Stops the processes on a data folder and removes it, wherever its cluster is. */
export const removeDataDir = async (path: string): Promise<void> => {
  const cluster = await readCluster(path).catch(() => undefined);
  if (cluster !== undefined) {
    await stopPostmaster(cluster.pgdata);
    await rm(dirname(cluster.pgdata), { recursive: true, force: true, maxRetries: RETRIES_MAX });
  }
  await rm(path, { recursive: true, force: true, maxRetries: RETRIES_MAX });
};

/** A stopping server still writes into its folder for a moment. */
const RETRIES_MAX = 5;
