import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { numberOf } from '../../command-line/arguments/command.ts';
import { type Tool, toolArguments } from '../tool-arguments.ts';

const DOMAINS: Tool = {
  script: 'test:domains',
  summary:
    'Generates declarations of domains, starts each, and compares its surfaces. Prints the file of every declaration with a fault.',
  positionals: [],
  options: {
    count: { type: 'string', placeholder: '<number>', description: 'How many (60).' },
    seed: {
      type: 'string',
      placeholder: '<number>',
      description: 'The first; the next has the next number (1).',
    },
    shrink: {
      type: 'boolean',
      description: 'Makes each declaration with a fault as small as possible; that takes minutes.',
    },
  },
  examples: ['--count 1000', '--count 1 --seed 17 --shrink'],
};
const SEED_MAX = 2 ** 31 - 1;
const { count, seed, shrinks } = toolArguments(DOMAINS, (given) => ({
  count: numberOf(given, 'count', { minimum: 1, maximum: 100_000 }) ?? 60,
  seed: numberOf(given, 'seed', { minimum: 1, maximum: SEED_MAX }) ?? 1,
  shrinks: given.flags.has('shrink'),
}));

const args = [
  'run',
  '--project',
  'unit',
  '--project',
  'outside',
  'test/domains/domains',
  'test/domains/started.long',
];
const child = spawn('npx', ['vitest', ...args], {
  env: {
    ...process.env,
    DOMAINS_COUNT: String(count),
    TEST_SEED: String(seed),
    DOMAINS_SHRINK: shrinks ? 'yes' : '',
  },
  stdio: 'inherit',
});
const [exit] = (await once(child, 'exit')) as [number | null];
process.exitCode = exit ?? 1;
