import { StartRefused } from '#kernel/base/start-refused.ts';
import { isPostgres } from '#process/engines/open-event-log.ts';
import { migrateAudit } from '#shared/audit/migrate.ts';
import { openPool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { keepLogOwner } from '#shared/event-log/owner/owner.ts';
import { migrateProcessManager } from '../command/process-manager/process-manager.ts';
import { copyLog, movedBetween } from '../proof/export/copy-log.ts';
import { demandStopped, switchLog } from '../proof/export/switch-log.ts';
import type { Command } from './arguments/command.ts';
import { UsageError } from './arguments/usage-error.ts';
import { FORMER_LOG } from './former-log.ts';
import { openAuthentic } from './installation/authentic.ts';
import { openInstallation } from './installation/installation.ts';
import { copySomeStreams, explainStop, openTarget } from './log-copy-streams.ts';
import { number, showProgress } from './output/progress.ts';
import { FOR_VERSIONS } from './projection-rebuild.ts';
import { recordCommand } from './record-command.ts';

export const logCopy: Command = {
  name: 'log copy',
  summary:
    'Copies the log to another engine, or with --streams a part of it to another cell. --switch makes the copy the log of this database.',
  positionals: [],
  options: {
    to: {
      type: 'string',
      placeholder: '<url>',
      description:
        'The target, written like EVENT_LOG_URL: an empty log, or an unfinished copy. “database” is the log in the database itself, also in the embedded one.',
    },
    'to-prefix': {
      type: 'string',
      placeholder: '<prefix>',
      description:
        'The EVENT_LOG_PREFIX of the target, if it is in EventStoreDB; without it, that of this log.',
    },
    switch: {
      type: 'boolean',
      description:
        'With Annals stopped: copies the rest, and changes all positions in the database to those of the copy.',
    },
    streams: {
      type: 'string',
      placeholder: '<file>',
      description:
        'Copies only these streams, with the keys of their persons, into a log that is in use. The file has one name per line; user-* stands for all with this prefix.',
    },
    'with-owned': {
      type: 'boolean',
      description: 'With --streams: also copies the streams that belong to them by an owner or a parent.',
    },
    follow: {
      type: 'boolean',
      description: 'With --streams: continues with new events until Ctrl+C, and then copies the rest.',
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
    'log copy --to database --switch',
    'log copy --to postgres://cell-two/annals --streams acme.txt --with-owned --follow',
  ],
  async run(given, terminal) {
    const { values, flags } = given;
    const to = values.get('to')?.[0];
    if (to === undefined) throw new UsageError('--to <url> is missing');
    const isForStreams = values.has('streams');
    if (!ENGINES.test(to) && (isForStreams || to !== IN_THE_DATABASE))
      throw new UsageError(`--to must be an esdb: or postgres: URL${isForStreams ? '' : ', or “database”'}`);
    if (isForStreams) return copySomeStreams(given, to, terminal);
    const lonely = ['with-owned', 'follow', 'to-database'].find(
      (name) => flags.has(name) || values.has(name),
    );
    if (lonely !== undefined) throw new UsageError(`--${lonely} goes with --streams`);
    await using installation = await openInstallation(terminal);
    const { config, databaseUrl, eventLog: source, isDense } = installation;
    const url = to === IN_THE_DATABASE ? databaseUrl : to;
    await using pool = openPool({
      url: databaseUrl,
      applicationName: 'annals-command-line',
      ...FOR_VERSIONS,
    });
    await recordCommand({ domain: terminal.domain, pool, command: 'log copy' });
    const isSwitching = flags.has('switch');
    if (isSwitching) await demandStopped(pool);
    const prefix = values.get('to-prefix')?.[0] ?? config.eventLogPrefix;
    const owner = await keepLogOwner(pool);
    // The copy has MACs of its own, whoever opens it next with this database.
    await using authentic = await openAuthentic({ config, databaseUrl, mayBegin: true, isOfCopy: true });
    await using target = await openTarget(url, { databaseUrl, source, prefix, owner, authentic });
    using shown = showProgress(terminal, 'Copying', isDense);
    const copying = {
      source,
      target,
      order: isPostgres(url) ? 'batches' : 'one by one',
      signal: terminal.signal,
    } as const;
    const copied = await copyLog({ ...copying, onProgress: shown.onProgress }).catch(
      explainStop('The copied events stay, and the same command continues.'),
    );
    shown[Symbol.dispose]();
    await terminal.write(
      `${number(copied.appended)} events were copied. Both logs have ${number(copied.count)} events up to this position, and the same head of their chain, ${copied.head.toString('hex')}.`,
    );
    if (!isSwitching) {
      await terminal.write(
        'Later events are not in the copy. To switch to it: stop Annals, and repeat the command with --switch.',
      );
      return;
    }
    await migrateAudit(pool);
    await migrateProcessManager(pool);
    await demandSameEnd(source, copied.upTo);
    await switchLog(pool, { from: source.identity, to: target.identity }, movedBetween(source, target));
    await terminal.write(
      `The database belongs to the copy now. ${whatToSet(to, values.get('to-prefix')?.[0])}`,
    );
    await terminal.write(FORMER_LOG);
  },
};

/** The embedded database has a port of its own choice, so that no URL could name it. */
const IN_THE_DATABASE = 'database';

const whatToSet = (to: string, prefix: string | undefined): string => {
  if (to === IN_THE_DATABASE)
    return 'Remove EVENT_LOG_URL from the settings of all processes of Annals, and start them.';
  const alsoPrefix = prefix === undefined ? '' : ` and EVENT_LOG_PREFIX to ${prefix}`;
  return `Set EVENT_LOG_URL to the value of --to${alsoPrefix} for all processes of Annals, and start them.`;
};

const ENGINES = /^(?:postgres(?:ql)?|esdb(?:\+discover)?):/;

const demandSameEnd = async (source: EventLog, upTo: number): Promise<void> => {
  if ((await source.head()) !== upTo)
    throw new StartRefused(
      'Events were appended meanwhile: stop all processes of Annals, and repeat the command.',
    );
};
