import { cpus, loadavg } from 'node:os';
import { beforeEach } from 'vitest';
import { SEED } from '../../testing/seed.ts';
import { lastLines } from './process-output.ts';

/** For a failure that nobody can repeat: its seed, the load, and what the processes of the tests printed last. */
beforeEach(({ onTestFailed, task }) => {
  onTestFailed(() => {
    const loads = loadavg().map((load) => load.toFixed(1));
    process.stderr.write(
      `\n“${task.name}” failed with TEST_SEED=${SEED}, at load ${loads.join(', ')} on ${cpus().length} cores.\n${lastLines()}\n`,
    );
  });
});
