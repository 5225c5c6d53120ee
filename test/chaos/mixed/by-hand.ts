import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startReaper } from '../../engines/start-reaper.ts';
import { readChaosArguments } from './arguments.ts';
import { report } from './report.ts';
import { runChaos } from './run.ts';

/** Runs the requested number of faults with progress output; exits with 1 if there are violations. */
const { faults, seed, log, only, keep } = readChaosArguments();

startReaper();
// The parent is gone, so nobody else ends the processes.
process.on('disconnect', () => process.kill(-process.pid, 'SIGKILL'));
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (stopping.signal.aborted) process.exit(1);
    console.log('No more faults; what there is will be checked. Once more ends it at once.');
    stopping.abort();
  });
}
const began = Date.now();
const onProgress = (line: string) =>
  console.log(`${((Date.now() - began) / 1_000).toFixed(0).padStart(5)} s  ${line}`);
onProgress(`${faults} faults, seed ${seed}, the log in ${log}`);
const options = { seed, faults, log, ...(only && { only }) } as const;
const outcome = await runChaos({ ...options, signal: stopping.signal, onProgress });
const again = `npm run chaos -- --faults ${faults} --seed ${seed} --log ${log}${(only ?? []).map((start) => ` --only '${start}'`).join('')}`;
console.log(`\n${report(outcome, again)}`);
if (keep !== undefined) {
  await mkdir(keep, { recursive: true });
  await writeFile(
    join(keep, 'history.json'),
    JSON.stringify({ ...outcome.history, violations: outcome.violations }),
  );
  for (const [name, text] of outcome.logs) await writeFile(join(keep, `${name}.log`), text);
}
process.exit(outcome.violations.length > 0 ? 1 : 0);
