import type { Clock } from '#shared/clock/clock.ts';
import { isUndefinedTable } from '../database/failures.ts';
import { migrate } from '../database/migrate.ts';
import type { Pool } from '../database/pool.ts';

/** An upgrade has replaced all processes within this time. */
const UPGRADED_WITHIN_MS = 3_600_000;

/**
 * Whether new cursors name their event. In a database that the release before has used, they do so an hour
 * after the first process of this release has started: the release before cannot read them, and may still
 * run.
 */
export const startNamingEvents = async (
  pool: Pool,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<() => boolean> => {
  await recordCursorForm(pool);
  const restMs = (await readRest(pool)) ?? UPGRADED_WITHIN_MS;
  let isOn = restMs === 0;
  if (!isOn)
    void clock.sleep(restMs, signal, { ref: false }).then(() => {
      isOn = !signal.aborted;
    });
  return () => isOn;
};

/**
 * Records that a process of this release has started, and whether the database is new. Every process does so
 * before it follows the log: the command line may do that before the first start.
 */
export const recordCursorForm = async (pool: Pool): Promise<void> => {
  await migrate(pool, 'cursor-form', new URL('./', import.meta.url));
  // Reads first, because a read-only server may still have readers.
  if ((await readRest(pool)) !== undefined) return;
  const since = (await isNew(pool)) ? `'-infinity'` : 'clock_timestamp()';
  await pool.query(`insert into public.cursor_form (since) values (${since}) on conflict do nothing`);
};

/** The rest of the hour; undefined if it has not begun. */
const readRest = async (pool: Pool): Promise<number | undefined> => {
  const { rows } = await pool.query<{ restMs: number }>(
    `select case when isfinite(since) then greatest(0, $1 - extract(epoch from clock_timestamp() - since) * 1000) else 0 end::float8
       as "restMs" from public.cursor_form`,
    [UPGRADED_WITHIN_MS],
  );
  return rows[0]?.restMs;
};

/** No process has followed the log yet. */
const isNew = async (pool: Pool): Promise<boolean> => {
  try {
    return (await pool.query('select from public.follower_checkpoint limit 1')).rowCount === 0;
  } catch (error) {
    if (isUndefinedTable(error)) return true;
    throw error;
  }
};
