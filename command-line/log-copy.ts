import { migrateAudit } from '#shared/audit/migrate.ts';
import { openPool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { isPostgres, openConfiguredEventLog } from '#shared/event-log/open-configured.ts';
import { Stopped } from '#shared/projection/catch-up.ts';
import { StartRefused } from '#shared/start-refused.ts';
import { copyLog, movedBetween } from '../audit/export/copy-log.ts';
import { demandStopped, switchLog } from '../audit/export/switch-log.ts';
import type { Command } from './command.ts';
import { openInstallation } from './installation.ts';
import { number, showProgress } from './progress.ts';
import { FOR_VERSIONS } from './projection-rebuild.ts';
import { UsageError } from './usage-error.ts';

/** As a shell tells of a program that Ctrl+C ended. */
const INTERRUPTED = 130;

export const explainStop =
  (what: string) =>
  (error: unknown): never => {
    if (error instanceof Stopped) throw new StartRefused(`Stopped. ${what}`, { exitCode: INTERRUPTED });
    throw error;
  };

export const logCopy: Command = {
  name: 'log copy',
  summary: 'Copies the log to another engine, as PostgreSQL to EventStoreDB; with --switch the database belongs to the copy from then on.',
  positionals: [],
  options: {
    to: { type: 'string', placeholder: '<url>', description: 'The copy, as EVENT_LOG_URL would name it: empty, or a copy that was begun.' },
    switch: {
      type: 'boolean',
      description: 'With Annals stopped: copies what is left, and gives all places in the database those of the copy.',
    },
  },
  examples: ['log copy --to esdb://localhost:2113?tls=false', 'log copy --to esdb://localhost:2113?tls=false --switch'],
  async run({ values, flags }, terminal) {
    const url = values.get('to')?.[0];
    if (url === undefined) throw new UsageError('--to <url> is missing');
    if (!ENGINES.test(url)) throw new UsageError('--to must be an esdb: or postgres: URL');
    await using installation = await openInstallation(terminal);
    const { databaseUrl, eventLog: source, isDense } = installation;
    await using pool = openPool({ url: databaseUrl, applicationName: 'annals-command-line', ...FOR_VERSIONS });
    const isSwitching = flags.has('switch');
    if (isSwitching) await demandStopped(pool);
    await using target = await openConfiguredEventLog({ eventLogUrl: url, databaseUrl }).catch(nameOption);
    if (target.identity === source.identity) throw new StartRefused('--to names the log that is to be copied: name another.');
    using shown = showProgress(terminal, 'Copying', isDense);
    const copying = { source, target, order: isPostgres(url) ? 'batches' : 'one by one', signal: terminal.signal } as const;
    const copied = await copyLog({ ...copying, onProgress: shown.onProgress }).catch(
      explainStop('What was copied stays in the copy, and the same command goes on.'),
    );
    shown[Symbol.dispose]();
    await terminal.write(
      `${number(copied.appended)} events were copied; both logs have ${number(copied.count)} events up to there, and the same head of their chain, ${copied.head.toString('hex')}.`,
    );
    if (!isSwitching) {
      await terminal.write(
        'What is appended from now on is not in the copy. To go on with it: stop Annals, and repeat the command with --switch.',
      );
      return;
    }
    await migrateAudit(pool);
    await demandSameEnd(source, copied.upTo);
    await switchLog(pool, { from: source.identity, to: target.identity }, movedBetween(source, target));
    await terminal.write('The database belongs to the copy now. Set EVENT_LOG_URL to what --to names, wherever Annals runs, and start it.');
    await terminal.write(
      'Cursors that clients have are of the former log, and are refused. A topic in Kafka is of it as well: name another one.',
    );
  },
};

const ENGINES = /^(?:postgres(?:ql)?|esdb(?:\+discover)?):/;

/** What is wrong with it is told as of the setting that it may become. */
const nameOption = (error: unknown): never => {
  if (!(error instanceof StartRefused)) throw error;
  throw new StartRefused(error.message.replaceAll('EVENT_LOG_URL', '--to'), { cause: error });
};

const demandSameEnd = async (source: EventLog, upTo: number): Promise<void> => {
  if ((await source.head()) !== upTo) throw new StartRefused('Something was appended meanwhile: stop all of Annals, and begin again.');
};
