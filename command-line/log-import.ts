import { openPool } from '#shared/database/pool.ts';
import { isPostgres } from '#shared/event-log/open-configured.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { importLog } from '../audit/export/import-log.ts';
import { demandSigner, openExport } from '../audit/export/read-export.ts';
import { demandStopped } from '../audit/export/switch-log.ts';
import { migrateLedger } from '../webhook-dispatcher/ledger/migrate.ts';
import { writeQuiet } from '../webhook-dispatcher/ledger/quiet.ts';
import type { Command } from './command.ts';
import { openInstallation } from './installation.ts';
import { explainStop } from './log-copy.ts';
import { number, showProgress } from './progress.ts';

export const logImport: Command = {
  name: 'log import',
  summary: 'Takes an export into an empty installation; what was interrupted, or exported later, goes on by the same command.',
  positionals: ['<folder>'],
  options: {
    key: {
      type: 'string',
      placeholder: '<id>',
      description:
        'A key that you know from elsewhere, such as /audit/keys: the export must be signed by it, or by one that follows from it.',
    },
    'without-keys': { type: 'boolean', description: 'Takes in persons whose keys are not there as erased, for good.' },
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
    await using pool = openPool({ url: databaseUrl, applicationName: 'annals-command-line', connectionsMax: 2 });
    await demandStopped(pool);
    using checking = showProgress(terminal, 'Checking', true);
    using filling = showProgress(terminal, 'Importing', true);
    const { appended, count, head } = await importLog(
      {
        ...{ pool, target, masterKey: await openMasterKey(config), withoutKeys: flags.has('without-keys'), signal: terminal.signal },
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
    await terminal.write('Start Annals: it makes the read model of it. No webhook is told of what was imported.');
  },
};
