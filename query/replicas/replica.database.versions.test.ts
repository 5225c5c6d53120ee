import { expect } from 'vitest';
import type { LogIdentity } from '#kernel/base/brands.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { migrate } from '#shared/database/migrate.ts';
import { START } from '#shared/event-log/event-log.ts';
import { test } from '../../test/engines/pool.ts';
import { openReplica } from './replica.ts';

const LOG = '6f9619ff-8b86-4d01-b42d-00c04fc964ff' as LogIdentity;

test('a server that accepts writes is no replica, even if there is nothing to replay', async ({
  database: { url },
  pool,
}) => {
  await migrate(pool, 'follower', new URL('../../shared/follower/', import.meta.url));
  await using replica = openReplica({
    url,
    eventLog: { identity: LOG },
    metrics: createMetrics(),
    clock: REAL_TIME,
  });
  await expect(replica.reaches(START, 0)).rejects.toThrow('accepts writes');
});
