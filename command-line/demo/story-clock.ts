import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '#shared/clock/clock.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { StartRefused } from '#shared/process/start-refused.ts';

/** The time of the story: it stands still during a scene, and never goes back. */
export type StoryClock = Clock & {
  moveTo(ms: number): void;
  /** Returns to the real time. */
  release(): void;
};

export const createStoryClock = (startsAtMs: number): StoryClock => {
  let nowMs: number | undefined = startsAtMs;
  return {
    ...REAL_TIME,
    nowMs: () => nowMs ?? Date.now(),
    aheadMs: () => (nowMs === undefined ? 0 : nowMs - Date.now()),
    moveTo(ms) {
      if (nowMs !== undefined) nowMs = Math.max(nowMs, ms);
    },
    release() {
      nowMs = undefined;
    },
  };
};

type Following = {
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'head'>;
  readonly clock: StoryClock;
};

const WAIT_MAX_MS = 60_000;
const LOOK_MS = 10;

/**
 * Waits until everything that follows from the events so far has happened, at their time, so that no later
 * event has an earlier time.
 */
export const untilFollowed = async ({ pool, eventLog, clock }: Following): Promise<void> => {
  const expiresAtMs = performance.now() + WAIT_MAX_MS;
  for (;;) {
    const head = await eventLog.head();
    const { rows } = await pool.query<{ isDone: boolean }>(
      `select not exists (select from public.follower_checkpoint where follower in ('process-manager', 'reactions') and position < $1)
         and (select count(*) from public.follower_checkpoint where follower = 'process-manager') = 1
         and not exists (select from process_manager.task) and not exists (select from process_manager.timer_mark)
         and not exists (select from process_manager.timer where due_at <= clock_timestamp() + $2 * interval '1 millisecond') as "isDone"`,
      [head, clock.aheadMs()],
    );
    if (rows[0]?.isDone && (await eventLog.head()) === head) return;
    if (performance.now() > expiresAtMs)
      throw new StartRefused('The reactions to the events of the demo did not finish within a minute.');
    await delay(LOOK_MS);
  }
};

/** The due time of the next timer before a given time, if any. */
export const nextTimerBefore = async (
  { pool }: Pick<Following, 'pool'>,
  ms: number,
): Promise<number | undefined> => {
  const { rows } = await pool.query<{ dueAt: Date | null }>(
    'select min(due_at) as "dueAt" from process_manager.timer where due_at < $1',
    [new Date(ms)],
  );
  return rows[0]?.dueAt?.getTime();
};
