import { Redis } from 'ioredis';
import type { Pool } from '#shared/database/pool.ts';
import { until } from '../../testing/until.ts';
import type { TestRedis } from '../engines/redis.ts';

/** A queue of jobs that can lose everything. */
export type LosableQueue = {
  readonly name: string;
  readonly settings: Readonly<Record<string, string>>;
  lose(pool: Pool, random: () => number): Promise<void>;
};

export const inPostgres: LosableQueue = {
  name: 'PostgreSQL',
  settings: {},
  lose: (pool) => loseTables(pool),
};

/** Emptied, or killed and restarted, which empties it as well. */
export const inRedis = (redis: TestRedis): LosableQueue => ({
  name: 'Redis',
  settings: { JOB_QUEUE_URL: redis.url },
  async lose(_pool, random) {
    if (random() < 0.5) {
      await redis.kill();
      return redis.start();
    }
    const client = new Redis(redis.url);
    await client.flushall();
    client.disconnect();
  },
});

/** Except the version of the tables. */
const loseTables = async (pool: Pool): Promise<void> => {
  const { rows } = await pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'bullmq' and tablename <> 'migration'`,
  );
  if (rows.length === 0) throw new Error('there is no queue in the database');
  const tables = rows.map(({ name }) => name).join(', ');
  await until(() => isTruncated(pool, tables), Boolean);
};

/** Workers lock the tables of the queue in another order. */
const isTruncated = async (pool: Pool, tables: string): Promise<boolean> => {
  try {
    await pool.query(`truncate ${tables}`);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === DEADLOCK) return false;
    throw error;
  }
};

const DEADLOCK = '40P01';
