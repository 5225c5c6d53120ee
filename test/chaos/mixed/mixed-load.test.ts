// Takes minutes, so it starts first.
import { expect, test } from 'vitest';
import { scaled } from '../../../testing/load.ts';
import { kafkaMissing } from '../../engines/kafka-server.ts';
import { nginxMissing } from '../../engines/nginx.ts';
import { redisMissing } from '../../engines/redis.ts';
import { runChaos } from './run.ts';
import { tell } from './tell.ts';

/**
 * Always the same, so that a failure is one of the change that it came with; a long run by hand takes others
 * (docs/chaos.md). With these, processes, engines and ways are among what fails, and so are all processes at
 * once, and whatever may happen to a cluster of EventStoreDB.
 */
const RUNS = { postgres: { seed: 9_417, faults: 5 }, eventstoredb: { seed: 4_808_013, faults: 6 } } as const;
const TEST_MS = scaled(600_000);

const missing = nginxMissing ?? kafkaMissing ?? redisMissing;
if (missing !== undefined) process.stderr.write(`A whole installation is not disturbed: ${missing}.\n`);

test.skipIf(missing !== undefined).each(['postgres', 'eventstoredb'] as const)(
  'with the log in %s, a whole installation loses, repeats and reorders nothing, whatever happens to its processes, engines and ways',
  async (log) => {
    const { seed, faults } = RUNS[log];
    const course: string[] = [];
    const onProgress = (line: string) => void course.push(`${new Date().toISOString()} ${line}`);
    const outcome = await runChaos({ seed, faults, log, onProgress });
    console.log(
      [...course, '', tell(outcome, `npm run chaos -- --faults ${faults} --seed ${seed} --log ${log}`)].join(
        '\n',
      ),
    );
    expect(outcome.violations).toEqual([]);
    const { feeds, deliveries } = outcome.history;
    // Where nothing was to come, nothing was tried.
    expect([...feeds, ...deliveries].filter(({ expected }) => expected.length === 0)).toEqual([]);
  },
  TEST_MS,
);
