import { expect, test } from 'vitest';
import { openPool } from '#shared/database/pool.ts';
import { until } from '../../testing/until.ts';
import { startAnnals } from '../annals-process.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { createDatabase } from '../engines/database.ts';

// Own server: it takes the queue away in the database.

test('a process with a broken queue of webhooks logs it once, and stops cleanly', async () => {
  await using dataDir = await temporaryDataDir();
  await using database = await createDatabase();
  await using annals = await startAnnals({ DATA_DIR: dataDir.path, DATABASE_URL: database.url });
  await using administrator = openPool({
    url: database.url,
    applicationName: 'administrator',
    connectionsMax: 1,
  });
  await administrator.query('alter schema bullmq rename to bullmq_away');
  const failures = () => annals.output().split('The webhook queue fails').length - 1;
  await until(failures, (count) => count > 0, 30_000);
  annals.child.kill('SIGTERM');
  expect(await annals.exited).toBe(0);
  expect(failures()).toBe(1);
});
