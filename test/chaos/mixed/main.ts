import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/**
 * `npm run chaos -- --faults 120 --seed 7`. The run has a process group of its own, so that Ctrl+C in a terminal reaches this process
 * and none of those that the run has started.
 */
const run = fork(fileURLToPath(new URL('./by-hand.ts', import.meta.url)), process.argv.slice(2), { detached: true });
process.on('SIGINT', () => run.kill('SIGINT'));
process.on('SIGTERM', () => run.kill('SIGTERM'));
const [code] = (await once(run, 'exit')) as [number | null];
try {
  // Whatever it was that ended it, what it has started ends with it.
  process.kill(-(run.pid ?? Number.NaN), 'SIGKILL');
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
}
process.exitCode = code ?? 1;
