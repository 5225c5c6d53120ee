import { readFile, writeFile } from 'node:fs/promises';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { openBlobs } from '#process/engines/open-blobs.ts';
import { fileFailure } from '#shared/folder.ts';
import { positionOf } from '../proof/at.ts';
import { type AuditKey, auditKey } from '../proof/stored/signing-keys.ts';
import { summaryOf } from '../proof/verify/summary.ts';
import { verify } from '../proof/verify/verify.ts';
import type { Command, Given } from './arguments/command.ts';
import { UsageError } from './arguments/usage-error.ts';
import { harmless } from './output/print-event.ts';
import { showProgress } from './output/progress.ts';
import { type Projection, withProjection } from './projection.ts';
import { explain, FOR_VERSIONS } from './projection-rebuild.ts';
import { recordCommand } from './record-command.ts';
import type { Terminal } from './terminal.ts';

/** The exit code for a difference; a failure to verify has another one. */
const DIFFERENT = 1;
const NOT_DONE = 2;

/** Enough to write everything that follows from a page of events at once. */
const CONNECTIONS_MAX = 10;

export const auditVerify: Command = {
  name: 'audit verify',
  summary:
    'Verifies the log, its hash chain and the read model, and prints every difference. Exit codes: 0 proven, 1 not proven, 2 not verified.',
  positionals: [],
  options: {
    at: {
      type: 'string',
      placeholder: '<position|time|cursor>',
      description: 'Verifies up to here, instead of to the end; live rows are compared only without it.',
    },
    heads: {
      type: 'string',
      placeholder: '<file>',
      description: 'Signed heads that were kept elsewhere, in the format of heads.jsonl.',
    },
    keys: {
      type: 'string',
      placeholder: '<file>',
      description: 'The keys that signed them, in the format of keys.jsonl.',
    },
    json: { type: 'boolean', description: 'Prints the report as one line of JSON.' },
    report: {
      type: 'string',
      placeholder: '<file>',
      description: 'Also writes the report to this file, as JSON.',
    },
    'no-read-model': {
      type: 'boolean',
      description: 'Verifies only the log, its chain and the signed heads.',
    },
    files: {
      type: 'boolean',
      description:
        'Also reads each uploaded file that is no picture, and compares it with the digest in its event.',
    },
    'show-personal': { type: 'boolean', description: 'Shows names, addresses and texts where they differ.' },
  },
  examples: [
    'audit verify',
    'audit verify --files',
    'audit verify --at 2026-03-01T00:00:00Z',
    'audit verify --heads /mnt/elsewhere/heads.jsonl --report proof.json',
  ],
  run: async (given, terminal) => {
    let isProven = false;
    try {
      await withProjection(
        terminal,
        async (projection) => {
          isProven = await verifyAndReport(projection, given, terminal);
        },
        { ...FOR_VERSIONS, connectionsMax: CONNECTIONS_MAX },
      );
    } catch (error) {
      throw notDone(error);
    }
    if (!isProven)
      throw new StartRefused('Not proven: verification found the differences above.', {
        exitCode: DIFFERENT,
      });
  },
};

const verifyAndReport = async (
  { isDense, config, ...mending }: Projection,
  given: Given,
  terminal: Terminal,
): Promise<boolean> => {
  const showPersonal = given.flags.has('show-personal');
  if (showPersonal) await recordCommand({ ...mending, command: 'audit verify' });
  const at = optionOf(given, 'at');
  const kept = {
    heads: await readLines(given, 'heads'),
    keys: (await readLines(given, 'keys')).map(parseKey),
  };
  const upTo = at === undefined ? {} : { at: await positionOf(mending, at, '--at') };
  const readsFiles = given.flags.has('files');
  if (readsFiles && (at !== undefined || given.flags.has('no-read-model')))
    throw new UsageError('--files compares the present files: use it without --at and --no-read-model.');
  await using blobs = readsFiles
    ? await openBlobs({ url: config.blobUrl, health: { add: () => {} } })
    : undefined;
  using shown = showProgress(terminal, 'Verifying', isDense);
  const report = await verify({
    ...{ ...mending, ...upTo, given: kept, auditDir: config.audit.dir },
    keepReadsDays: config.audit.keepReadsDays,
    blobs,
    isOfReadModel: !given.flags.has('no-read-model'),
    showPersonal,
    signal: terminal.signal,
    onProgress: shown.onProgress,
  }).catch(explain('the tables built for the verification are dropped'));
  shown[Symbol.dispose]();
  const file = optionOf(given, 'report');
  if (file !== undefined) await writeReport(file, `${JSON.stringify(report, undefined, 2)}\n`);
  const lines = given.flags.has('json') ? [JSON.stringify(report)] : summaryOf(report).map(harmless);
  for (const line of lines) await terminal.write(line);
  return report.outcome === 'proven';
};

const writeReport = async (file: string, text: string): Promise<void> => {
  await writeFile(file, text).catch((cause: unknown) => {
    const failure = fileFailure(cause);
    throw failure === undefined ? cause : new StartRefused(`--report: ${failure}`, { cause });
  });
};

/** The auditor's own copies; empty if no file is named. */
const readLines = async (given: Given, option: string): Promise<readonly string[]> => {
  const file = optionOf(given, option);
  if (file === undefined) return [];
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new StartRefused(
      `--${option}: ${fileFailure(error) ?? `${file} cannot be read: ${error.message}.`}`,
    );
  });
  return text.split('\n').filter((line) => line !== '');
};

const parseKey = (line: string): AuditKey => {
  try {
    return auditKey.parse(JSON.parse(line));
  } catch (cause) {
    throw new StartRefused('--keys: the file contains a line that is not a key; use a copy of keys.jsonl.', {
      cause,
    });
  }
};

/** A program that reads the exit code must not confuse a failure to verify with a difference. */
const notDone = (error: unknown): unknown => {
  if (error instanceof UsageError) return error;
  if (!(error instanceof StartRefused))
    return new StartRefused(`The verification could not be completed: ${(error as Error).stack}`, {
      cause: error,
      exitCode: NOT_DONE,
    });
  return error.exitCode === 1 ? new StartRefused(error.message, { cause: error, exitCode: NOT_DONE }) : error;
};

const optionOf = ({ values }: Given, option: string): string | undefined => values.get(option)?.[0];
