import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { kafkaMissing } from '../../engines/kafka-server.ts';
import { nginxMissing } from '../../engines/nginx.ts';
import { redisMissing } from '../../engines/redis.ts';
import { readChaosArguments } from './arguments.ts';

readChaosArguments();
const missing = [nginxMissing, kafkaMissing, redisMissing].filter((reason) => reason !== undefined);
if (missing.length > 0) {
  process.stderr.write(missing.map((reason) => `chaos: ${reason}.\n`).join(''));
  process.exit(1);
}

/**
 * `npm run chaos -- --faults 120 --seed 7`. The run has a process group of its own, so that Ctrl+C in a
 * terminal reaches only this process and none of those that the run has started.
 */
const run = fork(fileURLToPath(new URL('./by-hand.ts', import.meta.url)), process.argv.slice(2), {
  detached: true,
});
process.on('SIGINT', () => run.kill('SIGINT'));
process.on('SIGTERM', () => run.kill('SIGTERM'));
const [code] = (await once(run, 'exit')) as [number | null];
try {
  // However it ended, its processes end with it.
  process.kill(-(run.pid ?? Number.NaN), 'SIGKILL');
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
}
process.exitCode = code ?? 1;
