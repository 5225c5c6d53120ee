import { type Given, numberOf } from '../../command-line/arguments/command.ts';
import { UsageError } from '../../command-line/arguments/usage-error.ts';
import { type Tool, toolArguments } from '../tool-arguments.ts';
import { AREAS } from './choose.ts';

type Arguments = {
  readonly near: boolean;
  readonly far: boolean;
  readonly seed: string;
  readonly perArea: number;
  /** Separated by commas. */
  readonly projects: string;
  readonly workers: number;
  readonly areas: readonly string[];
  readonly ids: ReadonlySet<string>;
};

const PER_AREA = 40;
const PROJECTS = 'unit,contracts,gate';
const WORKERS = 2;
const ALL_AREAS = Object.keys(AREAS);

const MUTANTS: Tool = {
  script: 'test:mutants',
  summary:
    'Makes a repeatable sample of small changes of the sources, and runs the tests that can find each. Prints a table, and all that no test finds.',
  positionals: ['[<area or id>…]'],
  options: {
    seed: { type: 'string', placeholder: '<text>', description: 'Chooses other mutants (1).' },
    'per-area': {
      type: 'string',
      placeholder: '<number>',
      description: `How many of each area (${PER_AREA}).`,
    },
    projects: {
      type: 'string',
      placeholder: '<names>',
      description: `The projects of vitest whose tests run (${PROJECTS}).`,
    },
    workers: { type: 'string', placeholder: '<number>', description: `How many run at a time (${WORKERS}).` },
    near: { type: 'boolean', description: 'Only the nearest tests, for a first look.' },
    far: { type: 'boolean', description: 'Only all other tests, for the survivors of a first look.' },
  },
  examples: ['policy --near', 'auth --per-area 100 --seed 2', 'f338fd77', '--far f338fd77 60d31ac5'],
};

const read = (given: Given): Arguments => {
  const [near, far] = [given.flags.has('near'), given.flags.has('far')];
  if (near && far) throw new UsageError('--near and --far exclude each other');
  const areas = ALL_AREAS.filter((area) => given.positionals.includes(area));
  const ids = new Set(given.positionals.filter((word) => !ALL_AREAS.includes(word)));
  for (const id of ids)
    if (!/^[0-9a-f]{8}$/.test(id))
      throw new UsageError(`${id} is neither the id of a mutant nor an area (${ALL_AREAS.join(', ')})`);
  return {
    near,
    far,
    seed: given.values.get('seed')?.at(-1) ?? '1',
    perArea: numberOf(given, 'per-area', { minimum: 1, maximum: 10_000 }) ?? PER_AREA,
    projects: given.values.get('projects')?.at(-1) ?? PROJECTS,
    workers: numberOf(given, 'workers', { minimum: 1, maximum: 64 }) ?? WORKERS,
    areas: areas.length > 0 ? areas : ALL_AREAS,
    ids,
  };
};

export const readMutantsArguments = (): Arguments => toolArguments(MUTANTS, read);
