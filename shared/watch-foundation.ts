import { setTimeout as delay } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import { demandWritable } from '#shared/database/demand-writable.ts';
import type { Database } from '#shared/database/open-database.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LogWentBack } from '#shared/event-log/errors.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { GuardedLog } from '#shared/event-log/guard-history.ts';
import { demandMoving } from '#shared/follower/observe-follower.ts';
import type { Health } from '#shared/http/health.ts';
import { NotReady } from '#shared/not-ready.ts';

type Watched = {
  readonly database: Database;
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'check'>;
  readonly history: Pick<GuardedLog, 'demandHistory'>;
  /** Its followers are known by their metrics. */
  readonly metrics: Registry;
  /** Whether the role answers reads alone: those need neither a database that takes writes nor the log. */
  readonly isReader: boolean;
};

/** Has `/readyz` tell of what every role stands on. */
export const watchFoundation = (health: Pick<Health, 'add'>, { database, pool, eventLog, history, metrics, isReader }: Watched): void => {
  health.add('database', async () => {
    const trouble = database.trouble?.();
    if (trouble !== undefined) throw new NotReady(trouble);
    if (isReader) await pool.query('select 1');
    else await demandWritable(pool, 'database');
  });
  health.add('event log', () => eventLog.check(), { isRequired: !isReader });
  health.add('event log history', () => demandHistory(history));
  if (isReader) return;
  health.add('followers', () => demandMoving(metrics, { isRequired: true }));
  health.add('followers that may lag', () => demandMoving(metrics, { isRequired: false }), { isRequired: false });
};

/** Less than a check may take. */
const HISTORY_MAX_MS = 1_000;

/** A log that does not answer says nothing about its history; that it does not is told apart. */
const demandHistory = async (history: Watched['history']): Promise<void> => {
  const waiting = new AbortController();
  const looking = history.demandHistory().catch((cause: unknown) => {
    if (cause instanceof LogWentBack) throw new NotReady('The event log has lost events.', { cause });
  });
  try {
    await Promise.race([looking, delay(HISTORY_MAX_MS, undefined, { signal: waiting.signal, ref: false })]);
  } finally {
    waiting.abort();
    looking.catch(() => {});
  }
};
