import { StartRefused } from '#kernel/base/start-refused.ts';
import { loadConfig } from '#process/load-config.ts';
import { ConfigError } from '#process/read-settings.ts';
import { plural } from '#shared/format.ts';
import type { Command } from '../arguments/command.ts';
import { type Paint, paintOf } from '../output/paint.ts';
import { harmless } from '../output/print-event.ts';
import type { Terminal } from '../terminal.ts';
import { certificate } from './certificate.ts';
import { database } from './database.ts';
import { type Diagnosis, type Examined, fail, refusal } from './diagnosis.ts';
import { engines } from './engines.ts';
import { diskSpace, nodeVersion } from './machine.ts';
import { ports } from './ports.ts';
import { publicUrl } from './public-url.ts';
import { settings } from './settings.ts';

type Check = { readonly check: string; run(examined: Examined): Promise<readonly Diagnosis[]> };

/** Checks that need no settings come first. */
const NODE: Check = { check: 'node', run: nodeVersion };
const CHECKS: readonly Check[] = [
  { check: 'settings', run: settings },
  { check: 'disk', run: diskSpace },
  { check: 'database', run: database },
  { check: 'engines', run: engines },
  { check: 'ports', run: ports },
  { check: 'address', run: publicUrl },
  { check: 'certificate', run: certificate },
];

type Found = Diagnosis & { readonly check: string };

export const doctor: Command = {
  name: 'doctor',
  summary:
    'Checks machine, settings, database and engines, and says what to fix. Also works while Annals is stopped. Exit code 1 if a check fails.',
  positionals: [],
  options: { json: { type: 'boolean', description: 'Prints each finding as one line of JSON.' } },
  examples: ['doctor', 'doctor --json'],
  async run({ flags }, terminal) {
    const paint = paintOf(terminal);
    const print = flags.has('json') ? JSON.stringify : (found: Found) => findingLines(found, paint);
    const all: Found[] = [];
    for await (const found of examine(terminal)) {
      all.push(found);
      await terminal.write(print(found));
    }
    const failed = all.filter(({ outcome }) => outcome === 'fail').length;
    const warned = all.filter(({ outcome }) => outcome === 'warn').length;
    const summary = `${plural(all.length, 'finding')}: ${plural(failed, 'failure')}, ${plural(warned, 'warning')}.`;
    if (!flags.has('json')) await terminal.write('');
    if (failed > 0) throw new StartRefused(summary);
    if (!flags.has('json')) await terminal.write(summary);
  },
};

const WORDS = { ok: ['good', 'ok  '], warn: ['warn', 'WARN'], fail: ['bad', 'FAIL'] } as const;
const CHECK_WIDTH = 12;

const findingLines = ({ check, outcome, says, remedy }: Found, paint: Paint): string => {
  const [tone, word] = WORDS[outcome];
  const lines = [`${paint(tone, word)}  ${paint('soft', check.padEnd(CHECK_WIDTH))}${harmless(says)}`];
  if (remedy !== undefined) lines.push(`${' '.repeat(CHECK_WIDTH + 6)}→ ${harmless(remedy)}`);
  return lines.join('\n');
};

/** If the settings are invalid, reports only that. */
async function* examine({ environment, signal, rewrite }: Terminal): AsyncGenerator<Found> {
  const config = configIn(environment);
  if (Array.isArray(config)) {
    yield* config.map((problem) => ({ check: 'settings', ...refusal(problem) }));
    return;
  }
  for (const { check, run } of [NODE, ...CHECKS]) {
    if (signal.aborted) return;
    rewrite?.(`Checking: ${check}`);
    const found = await run({ config, environment, signal }).catch((error: unknown) => [broken(error)]);
    rewrite?.('');
    yield* found.map((each) => ({ check, ...each }));
  }
}

const configIn = (environment: Terminal['environment']) => {
  try {
    return loadConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return [...error.problems];
    throw error;
  }
};

/** One check that fails unexpectedly must not hide the results of the others. */
const broken = (error: unknown): Diagnosis =>
  fail(
    `The check could not be completed: ${(error as Error).message}.`,
    'fix this and run the check again; if it still fails, please report it.',
  );
