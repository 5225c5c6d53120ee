import { migrateAudit } from '#shared/audit/migrate.ts';
import type { Position } from '#shared/brands.ts';
import { openPool } from '#shared/database/pool.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { isPostgres } from '#shared/event-log/open.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { StartRefused } from '#shared/process/start-refused.ts';
import { positionOf } from '../audit/at.ts';
import { copyLog, movedBetween } from '../audit/export/copy-log.ts';
import { exportLog } from '../audit/export/export-log.ts';
import { importLog } from '../audit/export/import-log.ts';
import { demandSigner, openExport } from '../audit/export/read-export.ts';
import { demandStopped, switchLog } from '../audit/export/switch-log.ts';
import { migrateProcessManager } from '../command/process-manager/process-manager.ts';
import { migrateLedger } from '../webhook-dispatcher/ledger/migrate.ts';
import { writeQuiet } from '../webhook-dispatcher/ledger/quiet.ts';
import type { Command, Given } from './command.ts';
import { openInstallation } from './installation.ts';
import { copySomeStreams, explainStop, openTarget } from './log-copy-streams.ts';
import { number, showProgress } from './progress.ts';
import { FOR_VERSIONS } from './projection-rebuild.ts';
import { UsageError } from './usage-error.ts';

export const logExport: Command = {
  name: 'log export',
  summary:
    'Exports events into a folder with a signed manifest. Run it again to resume an interrupted export.',
  positionals: ['<folder>'],
  options: {
    after: {
      type: 'string',
      placeholder: '<position|time|cursor>',
      description: 'Begins after this place, instead of with the first event.',
    },
    until: {
      type: 'string',
      placeholder: '<position|time|cursor>',
      description: 'Ends there, instead of at the end that the log has now.',
    },
    keys: {
      type: 'boolean',
      description:
        'Adds the keys of persons, wrapped under MASTER_KEY: without them nobody can read what is personal in the copy.',
    },
  },
  examples: [
    'log export /backup/2026-11-21',
    'log export /audit/november --after 2026-11-01T00:00:00Z --until 2026-12-01T00:00:00Z',
  ],
  async run(given, terminal) {
    const [folder = ''] = given.positionals;
    await using installation = await openInstallation(terminal);
    const { config, databaseUrl, eventLog, isDense } = installation;
    await using pool = openPool({
      url: databaseUrl,
      applicationName: 'annals-command-line',
      connectionsMax: 2,
    });
    await migrateAudit(pool);
    const masterKey = await openMasterKey(config);
    await using _keys = await openPostgresKeyStore({ pool, masterKey });
    const placeOf = async (option: string): Promise<Position | undefined> => {
      const text = optionOf(given, option);
      return text === undefined ? undefined : positionOf({ pool, eventLog }, text, `--${option}`);
    };
    const range = {
      after: (await placeOf('after')) ?? START,
      upTo: await placeOf('until'),
      withKeys: given.flags.has('keys'),
    };
    using shown = showProgress(terminal, 'Exporting', isDense);
    const exporting = { pool, eventLog, masterKey, signal: terminal.signal, onProgress: shown.onProgress };
    const { count, chain, files, key } = await exportLog(exporting, folder, range).catch(
      explainStop('What is written so far stays, and the same command goes on with it.'),
    );
    shown[Symbol.dispose]();
    await terminal.write(
      `${number(count)} events are in ${folder}, in ${number(files.length)} ${files.length === 1 ? 'file' : 'files'}.`,
    );
    await terminal.write(
      `The chain of all events up to there has the head ${chain.after.head}; the manifest is signed by the key ${key}.`,
    );
  },
};

const optionOf = ({ values }: Given, option: string): string | undefined => values.get(option)?.[0];

export const logImport: Command = {
  name: 'log import',
  summary: 'Imports an export into an empty installation. Run it again to resume, or to add later exports.',
  positionals: ['<folder>'],
  options: {
    key: {
      type: 'string',
      placeholder: '<id>',
      description:
        'A key that you know from elsewhere, such as /audit/keys: the export must be signed by it, or by one that follows from it.',
    },
    'without-keys': {
      type: 'boolean',
      description: 'Takes in persons whose keys are not there as erased, for good.',
    },
  },
  examples: ['log import /backup/2026-11-21 --key=kPrK…', 'log import /audit/november --without-keys'],
  async run({ positionals: [folder = ''], flags, values }, terminal) {
    const opened = await openExport(folder);
    const [known] = values.get('key') ?? [];
    if (known !== undefined) demandSigner(opened, known);
    else
      await terminal.write(
        `The export was signed by the key ${opened.manifest.key}, which comes with it and which nobody vouches for: compare it with /audit/keys of where it comes from; with --key, nothing that another has signed is taken in.`,
      );
    await using installation = await openInstallation(terminal, { mayMake: true });
    const { config, databaseUrl, eventLog: target } = installation;
    await using pool = openPool({
      url: databaseUrl,
      applicationName: 'annals-command-line',
      connectionsMax: 2,
    });
    await demandStopped(pool);
    using checking = showProgress(terminal, 'Checking', true);
    using filling = showProgress(terminal, 'Importing', true);
    const { appended, count, head } = await importLog(
      {
        ...{
          pool,
          target,
          masterKey: await openMasterKey(config),
          withoutKeys: flags.has('without-keys'),
          signal: terminal.signal,
        },
        async keepQuiet(upTo) {
          await migrateLedger(pool);
          await writeQuiet(pool, target.identity, upTo);
        },
        order: isPostgres(config.eventLogUrl ?? databaseUrl) ? 'batches' : 'one by one',
        onProgress: (step, progress) => (step === 'check' ? checking : filling).onProgress(progress),
      },
      opened,
    ).catch(explainStop('What was imported stays, and the same command goes on.'));
    filling[Symbol.dispose]();
    await terminal.write(
      `${number(appended)} events were imported. The log has ${number(count)}, and the chain over them the head ${head.toString('hex')}.`,
    );
    await terminal.write(
      'Start Annals: it builds the read model from the log. Webhooks get no imported events.',
    );
  },
};

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
