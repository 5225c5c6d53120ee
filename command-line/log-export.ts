import { migrateAudit } from '#shared/audit/migrate.ts';
import type { Position } from '#shared/brands.ts';
import { openPool } from '#shared/database/pool.ts';
import { START } from '#shared/event-log/event-log.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { positionOf } from '../audit/at.ts';
import { exportLog } from '../audit/export/export-log.ts';
import type { Command, Given } from './command.ts';
import { openInstallation } from './installation.ts';
import { explainStop } from './log-copy.ts';
import { number, showProgress } from './progress.ts';

export const logExport: Command = {
  name: 'log export',
  summary: 'Writes the events of the log into a folder, with a signed manifest; what was interrupted goes on by the same command.',
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
      description: 'Adds the keys of persons, wrapped under MASTER_KEY: without them nobody can read what is personal in the copy.',
    },
  },
  examples: ['log export /backup/2026-11-21', 'log export /audit/november --after 2026-11-01T00:00:00Z --until 2026-12-01T00:00:00Z'],
  async run(given, terminal) {
    const [folder = ''] = given.positionals;
    await using installation = await openInstallation(terminal);
    const { config, databaseUrl, eventLog, isDense } = installation;
    await using pool = openPool({ url: databaseUrl, applicationName: 'annals-command-line', connectionsMax: 2 });
    await migrateAudit(pool);
    const masterKey = await openMasterKey(config);
    await using _keys = await openPostgresKeyStore({ pool, masterKey });
    const placeOf = async (option: string): Promise<Position | undefined> => {
      const text = optionOf(given, option);
      return text === undefined ? undefined : positionOf({ pool, eventLog }, text, `--${option}`);
    };
    const range = { after: (await placeOf('after')) ?? START, upTo: await placeOf('until'), withKeys: given.flags.has('keys') };
    using shown = showProgress(terminal, 'Exporting', isDense);
    const exporting = { pool, eventLog, masterKey, signal: terminal.signal, onProgress: shown.onProgress };
    const { count, chain, files, key } = await exportLog(exporting, folder, range).catch(
      explainStop('What is written so far stays, and the same command goes on with it.'),
    );
    shown[Symbol.dispose]();
    await terminal.write(`${number(count)} events are in ${folder}, in ${number(files.length)} ${files.length === 1 ? 'file' : 'files'}.`);
    await terminal.write(`The chain of all events up to there has the head ${chain.after.head}; the manifest is signed by the key ${key}.`);
  },
};

const optionOf = ({ values }: Given, option: string): string | undefined => values.get(option)?.[0];
