import { expect, test } from 'vitest';
import { runAnnals } from './annals-process.ts';

const TOOLS = {
  chaos: 'test/chaos/mixed/main.ts',
  'test:mutants': 'test/mutants/main.ts',
  'test:domains': 'test/domains/main.ts',
  'test:planted': 'test/describe/planted/plant.ts',
  'test:all': 'test/tiers/all.ts',
};
type Name = keyof typeof TOOLS;

const run = (name: Name, args: readonly string[], environment = {}) =>
  runAnnals([TOOLS[name], ...args], environment);

test.each(Object.keys(TOOLS) as Name[])('%s explains itself', async (name) => {
  const { exit, output } = await run(name, ['--help']);
  expect({ exit, output }).toEqual({
    exit: 0,
    output: expect.stringMatching(/^Usage: npm run .+ \[options\].*\n\n[A-Z].+\.\n\nOptions:\n/),
  });
  expect(output).toContain(`Usage: npm run ${name} -- `);
});

test.each<[Name, args: readonly string[], complaint: string]>([
  ['chaos', ['--fault', '3'], 'there is no option --fault; did you mean --faults?'],
  ['chaos', ['--log', 'paper'], '--log must be postgres or eventstoredb, and is “paper”'],
  ['chaos', ['more'], 'unexpected argument: more'],
  ['test:mutants', ['policy', 'frog'], 'frog is neither the id of a mutant nor an area (command, '],
  ['test:mutants', ['--near', '--far'], '--near and --far exclude each other'],
  ['test:domains', ['--count', '0'], '--count must be a whole number from 1 to 100000, but is “0”'],
  ['test:planted', ['--workers', '0'], '--workers must be a whole number from 1 to 64, but is “0”'],
  ['test:all', ['--from', 'frog'], 'there is no step frog; the steps are check, test, '],
  ['test:all', ['--from', 'chaos', '--only', 'pages'], '--from and --only exclude each other'],
])('%s refuses %j', async (name, args, complaint) => {
  const { exit, output } = await run(name, args);
  expect({ exit, output }).toEqual({
    exit: 64,
    output: expect.stringContaining(`${name}: ${complaint}`),
  });
  expect(output).toMatch(/^.+ \(more: npm run [\w:]+ -- --help\)\.\n$/);
});

test('a missing program is reported in one sentence', async () => {
  const { exit, output } = await run('chaos', [], { NGINX: '/nowhere/nginx' });
  expect(exit).toBe(1);
  expect(output).toMatch(/^chaos: there is no \/nowhere\/nginx here \(.*\)\.\n/);
});
