import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FAULTS, type Fault } from './faults.ts';

/**
 * Plants one fault after the other in a copy of this checkout, and runs the suite that must find it: `npm run test:planted`,
 * with words of their names, or domains, for some of them. Prints a table, and ends with 1 if any is not found.
 */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const LEFT_OUT = /^(?:\..*|node_modules|coverage)$/;
const words = process.argv.slice(2);
const chosen = FAULTS.filter(({ name, domain }) => words.length === 0 || words.some((word) => name.includes(word) || domain === word));

const copy = mkdtempSync(join(tmpdir(), 'planted-'));
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
cpSync(ROOT, copy, { recursive: true, filter: (path) => path === ROOT || !LEFT_OUT.test(basename(path)) });
symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));

/** Nothing where the text does not stand there exactly once. */
const plantedIn = (text: string, { from, to }: Fault): string | undefined => {
  const [before, after, ...others] = text.split(from);
  return before === undefined || after === undefined || others.length > 0 ? undefined : `${before}${to}${after}`;
};

const PROJECTS = ['--project', 'e2e', '--project', 'outside'];
/** By which test it is found first: that which should, or any. */
const runOn = ({ domain, by }: Fault): string | undefined => testOf(domain, ['-t', by]) ?? testOf(domain, []);

const testOf = (domain: string, named: readonly string[]): string | undefined => {
  const { stdout, stderr, status } = spawnSync(
    'npx',
    ['vitest', 'run', ...PROJECTS, '--bail', '1', ...named, `test/describe/${domain}.test.ts`],
    { cwd: copy, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } },
  );
  const [, found] = / FAIL .*?\.test\.ts > (.*)/.exec(stdout + stderr) ?? [];
  return status === 0 ? undefined : (found ?? 'the start of the suite');
};

console.log('| Fault | Suite | Found by |\n|---|---|---|');
let missed = 0;
for (const fault of chosen) {
  const path = join(copy, fault.file);
  const text = readFileSync(path, 'utf8');
  const planted = plantedIn(text, fault);
  if (planted === undefined) throw new Error(`${fault.name}: ${fault.file} does not hold once: ${fault.from}`);
  writeFileSync(path, planted);
  const found = runOn(fault);
  writeFileSync(path, text);
  if (found === undefined) missed += 1;
  console.log(`| ${fault.name} | ${fault.domain} | ${found ?? '**not found**'} |`);
}
console.log(`\n${chosen.length - missed} of ${chosen.length} faults were found.`);
process.exitCode = missed === 0 ? 0 : 1;
