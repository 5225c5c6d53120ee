import type { Position } from '#kernel/base/brands.ts';
import { isPostgres } from '#process/engines/open-event-log.ts';
import { migrateAudit } from '#shared/audit/migrate.ts';
import { openPool } from '#shared/database/pool.ts';
import { START } from '#shared/event-log/event-log.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { positionOf } from '../proof/at.ts';
import { exportLog } from '../proof/export/export-log.ts';
import { importLog } from '../proof/export/import-log.ts';
import { demandSigner, openExport } from '../proof/export/read-export.ts';
import { demandStopped } from '../proof/export/switch-log.ts';
import { migrateLedger } from '../webhook-dispatcher/ledger/migrate.ts';
import { writeQuiet } from '../webhook-dispatcher/ledger/quiet.ts';
import type { Command, Given } from './arguments/command.ts';
import { openInstallation } from './installation/installation.ts';
import { explainStop } from './log-copy-streams.ts';
import { number, showProgress } from './output/progress.ts';
import { recordCommand } from './record-command.ts';

export const logExport: Command = {
  name: 'log export',
  summary:
    'Exports events into a folder with a signed manifest. Run it again to resume an interrupted export.',
  positionals: ['<folder>'],
  options: {
    after: {
      type: 'string',
      placeholder: '<position|time|cursor>',
      description: 'Starts after this position, instead of with the first event.',
    },
    until: {
      type: 'string',
      placeholder: '<position|time|cursor>',
      description: 'Ends there, instead of at the current end of the log.',
    },
    keys: {
      type: 'boolean',
      description:
        'Adds the keys of persons, wrapped under MASTER_KEY: without them nobody can read personal data in the export.',
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
    await recordCommand({ domain: terminal.domain, pool, command: 'log export' });
    const masterKey = await openMasterKey(config);
    await using _keys = await openPostgresKeyStore({ pool, masterKey });
    const positionOfOption = async (option: string): Promise<Position | undefined> => {
      const text = optionOf(given, option);
      return text === undefined ? undefined : positionOf({ pool, eventLog }, text, `--${option}`);
    };
    const range = {
      after: (await positionOfOption('after')) ?? START,
      upTo: await positionOfOption('until'),
      withKeys: given.flags.has('keys'),
    };
    using shown = showProgress(terminal, 'Exporting', isDense);
    const exporting = { pool, eventLog, masterKey, signal: terminal.signal, onProgress: shown.onProgress };
    const { count, chain, files, key } = await exportLog(exporting, folder, range).catch(
      explainStop('The written files stay, and the same command continues.'),
    );
    shown[Symbol.dispose]();
    await terminal.write(
      `${number(count)} events are in ${folder}, in ${number(files.length)} ${files.length === 1 ? 'file' : 'files'}.`,
    );
    await terminal.write(
      `The chain of all events up to the last of these has the head ${chain.after.head}; the manifest is signed by the key ${key}.`,
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
        'A key that you know from another source, such as /audit/keys. The export must be signed by it, or by a successor of it.',
    },
    'without-keys': {
      type: 'boolean',
      description: 'Imports persons without a key as erased, permanently.',
    },
  },
  examples: ['log import /backup/2026-11-21 --key=kPrK…', 'log import /audit/november --without-keys'],
  async run({ positionals: [folder = ''], flags, values }, terminal) {
    const opened = await openExport(folder);
    const [known] = values.get('key') ?? [];
    if (known !== undefined) demandSigner(opened, known);
    else
      await terminal.write(
        `The export was signed by the key ${opened.manifest.key}, which is in the export itself and proves nothing: compare it with /audit/keys of the source. With --key, an export signed by another key is refused.`,
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
    ).catch(explainStop('The imported events stay, and the same command continues.'));
    filling[Symbol.dispose]();
    await terminal.write(
      `${number(appended)} events were imported. The log has ${number(count)}, and the chain over them the head ${head.toString('hex')}.`,
    );
    await terminal.write(
      'Start Annals: it builds the read model from the log. Webhooks get no imported events.',
    );
  },
};
