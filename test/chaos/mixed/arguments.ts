import { type Given, numberOf } from '../../../command-line/arguments/command.ts';
import { UsageError } from '../../../command-line/arguments/usage-error.ts';
import { type Tool, toolArguments } from '../../tool-arguments.ts';
import type { LogEngine } from './engines.ts';

type Arguments = {
  readonly faults: number;
  readonly seed: number;
  readonly log: LogEngine;
  readonly only: readonly string[] | undefined;
  readonly keep: string | undefined;
};

const FAULTS = 120;
const FAULTS_MAX = 100_000;
const SEED_MAX = 2 ** 31;
const ENGINES: readonly LogEngine[] = ['postgres', 'eventstoredb'];

const CHAOS: Tool = {
  script: 'chaos',
  summary:
    'Runs a whole installation under load, injects faults, and checks what was recorded; exits with 1 if anything was wrong.',
  positionals: [],
  options: {
    faults: { type: 'string', placeholder: '<number>', description: `How many faults (${FAULTS}).` },
    seed: {
      type: 'string',
      placeholder: '<number>',
      description: 'Repeats the faults of a run; without it, one made up.',
    },
    log: {
      type: 'string',
      placeholder: '<engine>',
      description: `Where the event log is: ${ENGINES.join(' or ')} (${ENGINES[0]}).`,
    },
    only: {
      type: 'string',
      multiple: true,
      placeholder: '<fault>',
      description: 'Only faults whose names begin so; may be given several times.',
    },
    keep: {
      type: 'string',
      placeholder: '<folder>',
      description: 'Writes the history and the logs of all processes there.',
    },
  },
  examples: ['--faults 120 --seed 7', `--faults 10 --only 'PostgreSQL' --only 'way to database'`],
};

const read = (given: Given): Arguments => {
  const [log = 'postgres'] = given.values.get('log') ?? [];
  const engine = ENGINES.find((each) => each === log);
  if (engine === undefined) throw new UsageError(`--log must be ${ENGINES.join(' or ')}, and is “${log}”`);
  return {
    faults: numberOf(given, 'faults', { minimum: 1, maximum: FAULTS_MAX }) ?? FAULTS,
    seed: numberOf(given, 'seed', { minimum: 0, maximum: SEED_MAX }) ?? Math.floor(Math.random() * SEED_MAX),
    log: engine,
    only: given.values.get('only'),
    keep: given.values.get('keep')?.at(-1),
  };
};

export const readChaosArguments = (): Arguments => toolArguments(CHAOS, read);
