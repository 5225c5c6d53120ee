import { setTimeout as delay } from 'node:timers/promises';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { isPostgres } from '#process/engines/open-event-log.ts';
import { renewStatement } from '#shared/authentic-events/change-statement.ts';
import { migrateAuthenticEvents } from '#shared/authentic-events/migrate.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { renewIdentity } from '#shared/event-log/postgres/renew-identity.ts';
import { demandStopped, renameLog } from '../proof/export/switch-log.ts';
import type { Command } from './arguments/command.ts';
import { FORMER_LOG } from './former-log.ts';
import { demandMasterKey } from './installation/authentic.ts';
import { openInstallation } from './installation/installation.ts';

const CONNECTIONS = { applicationName: 'annals-command-line', connectionsMax: 1 };

/**
 * A log restored to an earlier time reuses positions: a cursor of a lost event would be taken for one of its
 * replacement, and its holder would silently miss that one.
 */
export const logRenew: Command = {
  name: 'log renew',
  summary:
    'Marks a log that was restored to an earlier time, while Annals is stopped. Cursors of lost events are refused from then on.',
  positionals: [],
  options: {},
  examples: ['log renew'],
  async run(_given, terminal) {
    await using installation = await openInstallation(terminal);
    const { config, databaseUrl, eventLog } = installation;
    const logUrl = config.eventLogUrl ?? databaseUrl;
    if (!isPostgres(logUrl))
      throw new StartRefused('The log is in EventStoreDB: copy it into an empty log with log copy --switch.');
    await using pool = openPool({ url: databaseUrl, ...CONNECTIONS });
    await untilStopped(pool);
    const masterKey = await demandMasterKey(config, pool);
    // Inside the transaction, a missing table would abort it.
    await migrateAuthenticEvents(pool);
    const auditDir = config.audit.dir;
    await using logPool = openPool({ url: logUrl, ...CONNECTIONS });
    const from = eventLog.identity;
    const head = await eventLog.head();
    const to = await inTransaction(logPool, async (connection) => {
      const renewed = await renewIdentity(connection);
      // If the log has a database of its own, this one goes first: after a crash in between, the next start
      // is refused.
      const rename = async (rows: typeof connection) => {
        await renameLog(rows, { from, to: renewed });
        await renewStatement({ pool: rows, masterKey, auditDir }, { from, to: renewed, head });
      };
      await (logUrl === databaseUrl ? rename(connection) : inTransaction(pool, rename));
      return renewed;
    });
    await terminal.write(`The log ${from} is now the log ${to}.`);
    await terminal.write(FORMER_LOG);
  },
};

const LEASES_END_WITHIN_MS = 8_000;
const LOOK_AGAIN_MS = 250;

/** A backup contains the leases of its time; nobody renews them, so they expire. */
export const untilStopped = async (pool: Pool): Promise<void> => {
  for (const deadline = performance.now() + LEASES_END_WITHIN_MS; ; await delay(LOOK_AGAIN_MS)) {
    try {
      return await demandStopped(pool);
    } catch (error) {
      if (!(error instanceof StartRefused) || performance.now() > deadline) throw error;
    }
  }
};
