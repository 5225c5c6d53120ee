import { pino } from 'pino';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { IMPORT_LEASE } from '#shared/database/lease/import-lease.ts';
import { type HeldLeases, migrateLeases } from '#shared/database/lease/lease.ts';
import { takeLease } from '#shared/database/lease/take-lease.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { importHistory, rehearseHistory } from '../command/import/import-history.ts';
import { demandStopped } from '../proof/export/switch-log.ts';
import type { Command } from './arguments/command.ts';
import { openInstallation } from './installation/installation.ts';
import { number, showProgress } from './output/progress.ts';
import type { Terminal } from './terminal.ts';

/** One decides, and the others look up keys and claims meanwhile. */
const CONNECTIONS_MAX = 4;

export const importFile: Command = {
  name: 'import',
  summary:
    'Imports the history of another system: a file with a command on each line, with its time and its author. Run it again to resume, or to add later lines.',
  positionals: ['<file>'],
  options: {
    check: {
      type: 'boolean',
      description:
        'Imports nothing: reads every line, checks forms, names and references, and prints each wrong line. The exit code is 1 if there is one.',
    },
  },
  examples: ['import history.ndjson --check', 'import history.ndjson'],
  async run({ positionals: [path = ''], flags }, terminal) {
    const isRehearsal = flags.has('check');
    await using installation = await openInstallation(terminal, { mayMake: true });
    const { config, databaseUrl, eventLog } = installation;
    await using pool = openPool({
      url: databaseUrl,
      applicationName: 'annals-command-line',
      connectionsMax: CONNECTIONS_MAX,
    });
    await using alone = isRehearsal ? undefined : await beAlone(pool);
    const masterKey = await openMasterKey(config);
    await using keys = await openPostgresKeyStore({ pool, masterKey });
    const { domain, clock } = terminal;
    const signal = alone === undefined ? terminal.signal : AbortSignal.any([terminal.signal, alone.lost]);
    const { cell } = config;
    const log = pino({ level: 'silent' });
    const importing = { domain, pool, eventLog, keys, masterKey, log, cell, clock, signal };
    await (isRehearsal ? printRehearsal : printImport)(importing, path, terminal);
  },
};

/** An import decides on states in memory, so nobody else may write meanwhile. */
const beAlone = async (pool: Pool): Promise<HeldLeases> => {
  await migrateLeases(pool);
  const held = await takeLease(pool, IMPORT_LEASE);
  if (held === undefined)
    throw new StartRefused(
      'Another import runs: wait until it ends, or stop it. If its process was killed, wait ten seconds, and run the command again.',
    );
  try {
    await demandStopped(pool, { ownLease: IMPORT_LEASE });
    return held;
  } catch (error) {
    await held[Symbol.asyncDispose]();
    throw error;
  }
};

type Print = (
  importing: Parameters<typeof importHistory>[0],
  path: string,
  terminal: Terminal,
) => Promise<void>;

const printImport: Print = async (importing, path, terminal) => {
  using shown = showProgress(terminal, 'Importing', true);
  const onLine = (done: number, of: number) =>
    shown.onProgress({ step: 'check', what: `${number(done)} of ${number(of)} lines` });
  const { imported, known, unchanged, isStopped } = await importHistory({ ...importing, onLine }, path);
  shown[Symbol.dispose]();
  const lines = `${number(imported)} lines were imported, ${number(known)} were imported before, and ${number(unchanged)} changed nothing.`;
  if (isStopped)
    throw new StartRefused(
      `${terminal.signal.aborted ? 'Stopped' : 'The database did not answer in time, so the import stopped'}. ${lines} The same command continues.`,
    );
  await terminal.write(lines);
  await terminal.write(
    'Start Annals: it builds the read model from the log. Webhooks get no imported events.',
  );
};

const printRehearsal: Print = async (importing, path, terminal) => {
  const report = (sentence: string) => terminal.write(sentence);
  const { lines, wrong, known } = await rehearseHistory({ ...importing, report }, path);
  if (importing.signal.aborted) throw new StartRefused(`Stopped after ${number(lines)} lines.`);
  if (wrong > 0)
    throw new StartRefused(`${number(wrong)} of ${number(lines)} lines are wrong. Nothing was imported.`);
  await terminal.write(
    `${number(lines)} lines were read, of which ${number(known)} were imported before, and none is wrong. Nothing was imported.`,
  );
  await terminal.write(
    'Only an import can tell what the domain says to them: conditions, decisions, invariants, limits and unique values.',
  );
};
