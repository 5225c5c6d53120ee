import pg from 'pg';

/**
 * Pauses the server's processes for the connections with that name, like a stalled disk or network; they
 * resume at the end.
 */
export const pauseBackends = async (
  url: string,
  applicationName: string,
): Promise<Disposable & { readonly pids: readonly number[] }> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>(
      'select pid from pg_stat_activity where application_name = $1 and datname = current_database()',
      [applicationName],
    );
    const pids = rows.map(({ pid }) => pid).filter((pid) => signal(pid, 'SIGSTOP'));
    return { pids, [Symbol.dispose]: () => pids.forEach((pid) => void signal(pid, 'SIGCONT')) };
  } finally {
    await client.end();
  }
};

/** Returns whether the process still existed. */
const signal = (pid: number, name: NodeJS.Signals): boolean => {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
};
