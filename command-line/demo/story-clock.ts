import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import type { Pool } from '#shared/database/pool.ts';
import { untilSettled } from '../../command/process-manager/settled.ts';

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

const WAIT_MAX_MS = 60_000;

/**
 * Waits until everything that follows from the events so far has happened, at their time, so that no later
 * event has an earlier time.
 */
export const untilFollowed = async (system: Parameters<typeof untilSettled>[0]): Promise<void> => {
  const pending = await untilSettled(system, { waitMaxMs: WAIT_MAX_MS });
  if (pending.length > 0)
    throw new StartRefused(
      `The events of the demo still have consequences after a minute: ${pending.join('; ')}`,
    );
};

/** The due time of the next timer before a given time, if any. */
export const nextTimerBefore = async (
  { pool }: { readonly pool: Pool },
  ms: number,
): Promise<number | undefined> => {
  const { rows } = await pool.query<{ dueAt: Date | null }>(
    'select min(due_at) as "dueAt" from process_manager.timer where due_at < $1',
    [new Date(ms)],
  );
  return rows[0]?.dueAt?.getTime();
};
