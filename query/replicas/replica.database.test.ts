import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LogIdentity } from '#shared/brands.ts';
import { migrate } from '#shared/database/migrate.ts';
import { openPool } from '#shared/database/pool.ts';
import { START } from '#shared/event-log/event-log.ts';
import { createMetrics } from '#shared/process/metrics.ts';
import { createDatabase } from '../../test/engines/database.ts';
import { openReplica, type Replica } from './replica.ts';

const LOG = '6f9619ff-8b86-4d01-b42d-00c04fc964ff' as LogIdentity;

const resources = new AsyncDisposableStack();
let replica: Replica;
beforeAll(async () => {
  const { url } = resources.use(await createDatabase());
  const pool = resources.use(openPool({ url, applicationName: 'test', connectionsMax: 1 }));
  await migrate(pool, 'follower', new URL('../../shared/follower/', import.meta.url));
  replica = resources.use(openReplica({ url, eventLog: { identity: LOG }, metrics: createMetrics() }));
});
afterAll(() => resources.disposeAsync());

test('a server that accepts writes is no replica, even if there is nothing to replay', async () => {
  await expect(replica.reaches(START, 0)).rejects.toThrow('accepts writes');
});
