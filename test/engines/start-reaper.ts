import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { RUN } from './data-dir.ts';

/** Names the run, and has its remains removed, even after a signal without any teardown. */
export const startReaper = (): void => {
  if (process.env[RUN] !== undefined) return;
  const run = String(process.pid);
  process.env[RUN] = run;
  const program = fileURLToPath(new URL('./reaper.ts', import.meta.url));
  spawn(process.execPath, [program, run], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] }).unref();
};

/** As a global setup of vitest, for projects without a database. */
export { startReaper as setup };
