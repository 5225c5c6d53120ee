import type { Clock } from '#shared/clock/clock.ts';
import { measureDrift, migrateDrift, recordDrift } from '#shared/clock-drift/drift.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';
import { Gauge, type Registry } from '#shared/prometheus.ts';

type Dependencies = {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly metrics: Registry;
  readonly log: Pick<Log, 'warn'>;
  readonly role: string;
  readonly source: string | undefined;
  /** A role that only reads gives no event a time, and may have a database that it cannot write to. */
  readonly isReader: boolean;
};

const EVERY_MS = 60_000;
const MS_PER_SECOND = 1_000;
/** Worth a line: events of two processes can have their times in the wrong order. */
const LARGE_MS = 1_000;

/**
 * Compares the clock of this process with that of the database, at the start and each minute. Never fails: a
 * process with a wrong clock still serves, and monitoring raises the alarm.
 */
export const watchClock = (dependencies: Dependencies): AsyncDisposable => {
  const { pool, clock, metrics, log, role, source, isReader } = dependencies;
  const drift = new Gauge({
    name: 'annals_clock_drift_seconds',
    help: 'Difference between the clock of the process and that of the database; of several processes the largest.',
    aggregator: 'max',
    registers: [metrics],
  });
  const stopping = new AbortController();
  let isLarge = false;
  const run = async (): Promise<void> => {
    let isMigrated = false;
    while (!stopping.signal.aborted) {
      try {
        if (!isMigrated && !isReader) await migrateDrift(pool);
        isMigrated = true;
        const measured = await measureDrift(pool, clock);
        const { driftMs, uncertaintyMs } = measured;
        drift.set(Math.abs(driftMs) / MS_PER_SECOND);
        const wasLarge = isLarge;
        isLarge = Math.abs(driftMs) - uncertaintyMs > LARGE_MS;
        if (isLarge && !wasLarge)
          log.warn(
            { driftMs: Math.round(driftMs), uncertaintyMs: Math.round(uncertaintyMs) },
            'The clock of this process differs from that of the database: synchronize both.',
          );
        if (!isReader) await recordDrift(pool, { ...measured, against: 'database', role, source });
      } catch {
        // The database is away, which its own check reports.
      }
      await clock.sleep(EVERY_MS, stopping.signal, { ref: false });
    }
  };
  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
};
