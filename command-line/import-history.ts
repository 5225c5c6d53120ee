import { pino } from 'pino';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { serves } from '#kernel/registry/parts.ts';
import { openPool } from '#shared/database/pool.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { importHistory } from '../command/import/import-history.ts';
import { demandStopped } from '../proof/export/switch-log.ts';
import { migrateLedger } from '../webhook-dispatcher/ledger/migrate.ts';
import { writeQuiet } from '../webhook-dispatcher/ledger/quiet.ts';
import type { Command } from './arguments/command.ts';
import { openInstallation } from './installation/installation.ts';
import { number, showProgress } from './output/progress.ts';

/** One decides, and the others look up keys and claims meanwhile. */
const CONNECTIONS_MAX = 4;

export const importFile: Command = {
  name: 'import',
  summary:
    'Imports the history of another system: a file with a command on each line, with its time and its author. Run it again to resume, or to add later lines.',
  positionals: ['<file>'],
  options: {},
  examples: ['import history.ndjson'],
  async run({ positionals: [path = ''] }, terminal) {
    const { domain, signal, clock } = terminal;
    await using installation = await openInstallation(terminal, { mayMake: true });
    const { config, databaseUrl, eventLog } = installation;
    await using pool = openPool({
      url: databaseUrl,
      applicationName: 'annals-command-line',
      connectionsMax: CONNECTIONS_MAX,
    });
    await demandStopped(pool);
    const masterKey = await openMasterKey(config);
    await using keys = await openPostgresKeyStore({ pool, masterKey });
    const log = pino({ level: 'silent' });
    using shown = showProgress(terminal, 'Importing', true);
    const onLine = (done: number, of: number) =>
      shown.onProgress({ step: 'check', what: `${number(done)} of ${number(of)} lines` });
    const { cell } = config;
    const importing = { domain, pool, eventLog, keys, masterKey, log, cell, clock, signal, onLine };
    const { imported, known, unchanged, isStopped } = await importQuietly(importing, path);
    shown[Symbol.dispose]();
    const lines = `${number(imported)} lines were imported, ${number(known)} were imported before, and ${number(unchanged)} changed nothing.`;
    if (isStopped) throw new StartRefused(`Stopped. ${lines} The same command continues.`);
    await terminal.write(lines);
    await terminal.write(
      'Start Annals: it builds the read model from the log. Webhooks get no imported events.',
    );
  },
};

/** Webhooks get nothing of what was imported, also if a later line was refused. */
const importQuietly: typeof importHistory = async (importing, path) => {
  const { domain, pool, eventLog } = importing;
  const before = await eventLog.head();
  try {
    return await importHistory(importing, path);
  } finally {
    const head = await eventLog.head();
    if (head > before && serves(domain, 'webhooks')) {
      await migrateLedger(pool);
      await writeQuiet(pool, eventLog.identity, head);
    }
  }
};
