import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { numberOf } from '../../../command-line/arguments/command.ts';
import { copyCheckout, ROOT } from '../../checkout-copy.ts';
import { type Tool, toolArguments } from '../../tool-arguments.ts';
import { FAULTS, type Fault } from './faults.ts';

const PLANTED: Tool = {
  script: 'test:planted',
  summary:
    'Plants one fault after the other in copies of this checkout, and runs the suite that must find it. Prints a table, and exits with 1 if any is not found.',
  positionals: ['[<words of a name or domain>…]'],
  options: {
    workers: { type: 'string', placeholder: '<number>', description: 'How many run at a time (1).' },
    first: { type: 'boolean', description: 'Only the test that should find each.' },
  },
  examples: ['helpdesk', "'time travel' --first"],
};
const { words, workers, isFirstOnly } = toolArguments(PLANTED, (given) => ({
  words: given.positionals,
  workers: numberOf(given, 'workers', { minimum: 1, maximum: 64 }) ?? 1,
  isFirstOnly: given.flags.has('first'),
}));
const chosen = FAULTS.filter(
  ({ name, domain }) => words.length === 0 || words.some((word) => name.includes(word) || domain === word),
);

/** Undefined unless the text occurs exactly once. */
const plantedIn = (text: string, { from, to }: Fault): string | undefined => {
  const [before, after, ...others] = text.split(from);
  return before === undefined || after === undefined || others.length > 0
    ? undefined
    : `${before}${to}${after}`;
};

const PROJECTS = ['--project', 'gate', '--project', 'outside'];
/** The test that finds it: the expected one, or any. */
const runOn = async (copy: string, { domain, by }: Fault): Promise<string | undefined> =>
  (await testOf(copy, domain, ['-t', by])) ?? (isFirstOnly ? undefined : testOf(copy, domain, []));

const testOf = async (
  copy: string,
  domain: string,
  named: readonly string[],
): Promise<string | undefined> => {
  const args = ['vitest', 'run', ...PROJECTS, '--bail', '1', ...named, `test/describe/${domain}.`];
  const child = spawn('npx', args, {
    cwd: copy,
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
  const status = await new Promise<number | null>((resolve) => void child.once('close', resolve));
  const [, found] = / FAIL .*?\.test\.ts > (.*)/.exec(printed) ?? [];
  return status === 0 ? undefined : (found ?? 'the start of the suite');
};

const checkPlaces = (): void => {
  for (const fault of FAULTS)
    if (plantedIn(readFileSync(join(ROOT, fault.file), 'utf8'), fault) === undefined)
      throw new Error(`${fault.name}: ${fault.file} does not hold once: ${fault.from}`);
};

checkPlaces();
console.log('| Fault | Suite | Found by |\n|---|---|---|');
let missed = 0;
const queue = [...chosen];
const work = async (): Promise<void> => {
  const copy = copyCheckout();
  for (let fault = queue.shift(); fault !== undefined; fault = queue.shift()) {
    const path = join(copy, fault.file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, plantedIn(text, fault) ?? text);
    const found = await runOn(copy, fault);
    writeFileSync(path, text);
    if (found === undefined) missed += 1;
    console.log(`| ${fault.name} | ${fault.domain} | ${found ?? '**not found**'} |`);
  }
};
await Promise.all(Array.from({ length: workers }, work));
console.log(`\n${chosen.length - missed} of ${chosen.length} faults were found.`);
process.exitCode = missed === 0 ? 0 : 1;
