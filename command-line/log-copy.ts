import { migrateAudit } from '#shared/audit/migrate.ts';
import { openPool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { isPostgres } from '#shared/event-log/open.ts';
import { StartRefused } from '#shared/process/start-refused.ts';
import { copyLog, movedBetween } from '../audit/export/copy-log.ts';
import { demandStopped, switchLog } from '../audit/export/switch-log.ts';
import { migrateProcessManager } from '../command/process-manager/process-manager.ts';
import type { Command } from './command.ts';
import { openInstallation } from './installation.ts';
import { copySomeStreams, explainStop, openTarget } from './log-copy-streams.ts';
import { number, showProgress } from './progress.ts';
import { FOR_VERSIONS } from './projection-rebuild.ts';
import { UsageError } from './usage-error.ts';

export const logCopy: Command = {
  name: 'log copy',
  summary:
    'Copies the log to another engine, or with --streams a part of it to another cell. --switch makes the copy the log of this database.',
  positionals: [],
  options: {
    to: {
      type: 'string',
      placeholder: '<url>',
      description: 'The copy, as EVENT_LOG_URL would name it: empty, or a copy that was begun.',
    },
    switch: {
      type: 'boolean',
      description:
        'With Annals stopped: copies what is left, and gives all places in the database those of the copy.',
    },
    streams: {
      type: 'string',
      placeholder: '<file>',
      description:
        'Copies only these streams, with the keys of their persons, into a log that is in use: one name a line, user-* for all that begin so.',
    },
    'with-owned': {
      type: 'boolean',
      description: 'With --streams: also what belongs to them by an owner or a parent.',
    },
    follow: {
      type: 'boolean',
      description: 'With --streams: goes on with new events until Ctrl+C, and then copies the rest.',
    },
    'to-database': {
      type: 'string',
      placeholder: '<url>',
      description: 'With --streams: the DATABASE_URL of the other cell, if its log is not in it.',
    },
  },
  examples: [
    'log copy --to esdb://localhost:2113?tls=false',
    'log copy --to esdb://localhost:2113?tls=false --switch',
    'log copy --to postgres://cell-two/annals --streams acme.txt --with-owned --follow',
  ],
  async run(given, terminal) {
    const { values, flags } = given;
    const url = values.get('to')?.[0];
    if (url === undefined) throw new UsageError('--to <url> is missing');
    if (!ENGINES.test(url)) throw new UsageError('--to must be an esdb: or postgres: URL');
    if (values.has('streams')) return copySomeStreams(given, url, terminal);
    const lonely = ['with-owned', 'follow', 'to-database'].find(
      (name) => flags.has(name) || values.has(name),
    );
    if (lonely !== undefined) throw new UsageError(`--${lonely} goes with --streams`);
    await using installation = await openInstallation(terminal);
    const { databaseUrl, eventLog: source, isDense } = installation;
    await using pool = openPool({
      url: databaseUrl,
      applicationName: 'annals-command-line',
      ...FOR_VERSIONS,
    });
    const isSwitching = flags.has('switch');
    if (isSwitching) await demandStopped(pool);
    await using target = await openTarget(url, { databaseUrl, source });
    using shown = showProgress(terminal, 'Copying', isDense);
    const copying = {
      source,
      target,
      order: isPostgres(url) ? 'batches' : 'one by one',
      signal: terminal.signal,
    } as const;
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
    await migrateProcessManager(pool);
    await demandSameEnd(source, copied.upTo);
    await switchLog(pool, { from: source.identity, to: target.identity }, movedBetween(source, target));
    await terminal.write(
      'The database belongs to the copy now. Set EVENT_LOG_URL to what --to names, wherever Annals runs, and start it.',
    );
    await terminal.write(
      'Cursors that clients have are of the former log, and are refused. A topic in Kafka is of it as well: name another one.',
    );
  },
};

const ENGINES = /^(?:postgres(?:ql)?|esdb(?:\+discover)?):/;

const demandSameEnd = async (source: EventLog, upTo: number): Promise<void> => {
  if ((await source.head()) !== upTo)
    throw new StartRefused('Something was appended meanwhile: stop all of Annals, and begin again.');
};
