import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { kafkaMissing } from '../engines/kafka-server.ts';
import { nginxMissing } from '../engines/nginx.ts';
import { pgBouncerMissing } from '../engines/pgbouncer.ts';
import { redisMissing } from '../engines/redis.ts';
import { pythonMissing } from '../engines/schemathesis.ts';

/** A part of a tier, with its line in the table. */
export type Step = {
  /** For `--from` and `--only`. */
  readonly name: string;
  /** The projects of vitest, or another program. */
  readonly run: Vitest | readonly string[];
  /** Builds what the tests need. */
  readonly before?: readonly string[];
  /** Why it cannot run on this machine. */
  readonly missing?: string | undefined;
};

export type Vitest = {
  readonly projects: readonly string[];
  /** A part of the paths of its files; by default all files. */
  readonly files?: string;
  /** Patterns of files that are left out. */
  readonly without?: readonly string[];
  /** Fewer than usual, because each starts more processes. */
  readonly maxWorkers?: number;
  readonly env?: Readonly<Record<string, string>>;
};

export const isVitest = (run: Step['run']): run is Vitest => 'projects' in run;

const CHECK: Step = { name: 'check', run: ['npm', 'run', 'check'] };
const TEST: Step = { name: 'test', run: { projects: ['unit', 'contracts', 'e2e'] } };
const GATE: Step = { name: 'gate', run: { projects: ['gate'] } };
/** The files of other projects that every submission must pass. */
const OF_GATE = '.gate.';

/** Debian’s folder of PostgreSQL servers, with a folder for each version. */
const SERVERS = '/usr/lib/postgresql';

const versionsIn = (folder: string): readonly number[] => {
  try {
    return readdirSync(folder)
      .filter((version) => existsSync(`${folder}/${version}/bin/postgres`))
      .map(Number);
  } catch {
    return [];
  }
};

const [oldest] = versionsIn(SERVERS).toSorted((one, other) => one - other);
const OLDEST_POSTGRES: Step & { readonly run: Vitest } = {
  name: 'oldest-postgres',
  run: { projects: ['postgres'], maxWorkers: 3, env: { TEST_POSTGRES_BIN: `${SERVERS}/${oldest}/bin` } },
  missing:
    oldest === undefined ? `there is no PostgreSQL in ${SERVERS} (apt-get install postgresql)` : undefined,
};

const poolers = (mode: 'transaction' | 'session'): Step => ({
  name: `poolers-${mode}`,
  run: { projects: ['poolers'], maxWorkers: 3, env: { TEST_PGBOUNCER: mode } },
  missing: pgBouncerMissing,
});

/** Each installation has ten processes. */
const JOURNEYS: Step & { readonly run: Vitest } = {
  name: 'journeys',
  run: { projects: ['journeys'], maxWorkers: 2 },
  missing: kafkaMissing ?? redisMissing ?? nginxMissing,
};

const CONFORMANCE: Step = {
  name: 'conformance',
  run: { projects: ['conformance'] },
  missing: pythonMissing,
};

const hasGo = spawnSync('go', ['version']).status === 0;
const goMissing = hasGo ? undefined : 'there is no Go (apt-get install golang)';

const withoutQuarantine = (step: Step): Step =>
  isVitest(step.run)
    ? { ...step, run: { ...step.run, env: { ...step.run.env, ANNALS_TEST_TIER: 'gate' } } }
    : step;

/**
 * The files that the gate runs on the newest PostgreSQL as well. Of those that take minutes only the contract of
 * the event log, which everything else is built on.
 */
const OLDEST_POSTGRES_OF_GATE: Step = {
  ...OLDEST_POSTGRES,
  run: {
    ...OLDEST_POSTGRES.run,
    without: ['**/!(event-log-postgres.*).long.test.ts', '**/*.engine.test.ts'],
  },
};

/** Each of these needs ten processes of its own, for limits and traces, which guard no data. */
const JOURNEYS_OF_GATE: Step = {
  ...JOURNEYS,
  run: { ...JOURNEYS.run, without: ['**/{graphql-rate,trace}.*.long.test.ts'] },
};

/**
 * Every submission passes these. Two steps at a time are no faster on two cores, and make tests miss their
 * deadlines.
 */
const GATE_STEPS: readonly Step[] = [
  CHECK,
  TEST,
  GATE,
  JOURNEYS_OF_GATE,
  { name: 'chaos', run: { projects: ['chaos'], files: OF_GATE, maxWorkers: 2 } },
  CONFORMANCE,
  poolers('transaction'),
  OLDEST_POSTGRES_OF_GATE,
  { name: 'pages', run: { projects: ['pages'], files: OF_GATE } },
].map(withoutQuarantine);

const ALL_STEPS: readonly Step[] = [
  CHECK,
  TEST,
  GATE,
  {
    name: 'outside',
    run: { projects: ['outside'] },
    // Tests of the chart render it; without Go they say that they are skipped.
    ...(hasGo && { before: ['node', 'test/engines/helm.ts'] }),
  },
  OLDEST_POSTGRES,
  poolers('transaction'),
  poolers('session'),
  JOURNEYS,
  { name: 'replicas', run: { projects: ['replicas'], maxWorkers: 2 }, missing: nginxMissing },
  { name: 'chaos', run: { projects: ['chaos'], maxWorkers: 2 } },
  { name: 'pages', run: { projects: ['pages'] } },
  CONFORMANCE,
  {
    name: 'kubernetes',
    run: { projects: ['kubernetes'], maxWorkers: 1 },
    before: ['node', 'test/engines/control-plane-programs.ts'],
    missing: goMissing,
  },
];

export const TIERS = { gate: GATE_STEPS, all: ALL_STEPS } as const;
export type Tier = keyof typeof TIERS;
