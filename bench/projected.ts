import { setTimeout as delay } from 'node:timers/promises';
import { openPool } from '../shared/database/pool.ts';

const LOOK_AGAIN_MS = 200;

/** Waits until the existing events are projected, so that only the writes are measured. */
export const untilProjected = async (databaseUrl: string): Promise<void> => {
  await using pool = openPool({
    url: databaseUrl,
    applicationName: 'annals-bench',
    connectionsMax: 1,
    statementTimeoutMs: 600_000,
  });
  const isBehind = async (): Promise<boolean> => {
    const { rows } = await pool.query(
      `select coalesce((select position from public.follower_checkpoint where follower = 'projector'), 0) < (select max(position) from event_log.event) as behind`,
    );
    return rows[0].behind;
  };
  while (await isBehind()) await delay(LOOK_AGAIN_MS);
  await pool.query('vacuum analyze');
};
