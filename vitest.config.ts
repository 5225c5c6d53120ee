import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { withoutLeftOut } from './test/tiers/left-out.ts';
import { QUARANTINE } from './test/tiers/quarantine.ts';

/**
 * What Node has compiled is kept for the many processes that the tests start; those of a later run start
 * quicker as well.
 */
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/node', import.meta.url));

/** One PostgreSQL server for the whole run; every test file makes its own database in it. */
const onPostgres = { globalSetup: ['test/engines/global-setup.ts'] };
/**
 * How long a test and a hook may take on a quiet machine; each file begins with what the load makes of it.
 */
const limits = (test: number, hook = 30_000) => ({
  provide: { limitsMs: { test, hook } },
  setupFiles: ['shared/needed/all.ts', 'test/engines/scale-limits.ts', 'test/engines/explain-failures.ts'],
});
/** Tests that start processes. */
const patient = limits(120_000, 120_000);

const ROLES =
  '{client,tanstack,command,projector,query,auth,webhook-dispatcher,proof,mcp,inbox,command-line,develop,console,site,adapters,edge,process,shared,kernel,domain}';

/**
 * The suffixes of a file say what its tests need, in the order of `name.database.versions.gate.test.ts`. Each
 * project chooses by folders and suffixes; there is no list of files. docs/contributing.md explains them.
 */
const needing = (...suffixes: readonly string[]): string[] =>
  suffixes.flatMap((suffix) => [`**/*.${suffix}.test.ts`, `**/*.${suffix}.*.test.ts`]);
const POOLER = needing('pooler');
const DATABASE = [...needing('database'), ...POOLER];
const VERSIONS = needing('versions');
const REPLICAS = needing('replicas');
const GATE = needing('gate');
const ELSEWHERE = [...needing('engine', 'long'), ...Object.keys(QUARANTINE)];
/** Not in `npm test`. */
const OUTSIDE = [...GATE, ...ELSEWHERE];
/** Tests that need more than a database. */
const SPECIAL = ['**/node_modules/**', 'test/{chaos,conformance,kubernetes,pages}/**'];

/** End-to-end tests that go through an installation, which may be one process or replicas. */
const E2E = 'test/e2e/*.test.ts';

class LongestFirst extends BaseSequencer {
  /**
   * Starts with what takes minutes, so that nothing long is left when the other workers have nothing to do.
   * Then come those that share an installation, one after the other; the first that wants its own ends it.
   */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const texts = new Map(files.map((file) => [file, readFileSync(file.moduleId, 'utf8')]));
    const isLong = (file: TestSpecification): boolean =>
      file.moduleId.includes('/test/describe/') || /^\/\/ Takes minutes/m.test(texts.get(file) ?? '');
    // Auth has an installation of its own kind; all others share the same one.
    const sharedBy = (file: TestSpecification): string | undefined => {
      const [name] = /\bshared?[A-Z]\w+/.exec(texts.get(file) ?? '') ?? [];
      return name === undefined || name === 'sharedAuthTest' ? name : 'shared';
    };
    const rankOf = (file: TestSpecification): number => {
      if (isLong(file)) return 0;
      return sharedBy(file) === undefined ? 2 : 1;
    };
    const ranks = new Map(files.map((file) => [file, rankOf(file)]));
    // A worker goes when the next file is of another project, and what it shared goes with it.
    const groupOf = (file: TestSpecification): string =>
      ranks.get(file) === 1 ? `${file.project.name} ${sharedBy(file)}` : '';
    return (await super.sort(files)).toSorted(
      (one, other) =>
        (ranks.get(one) ?? 0) - (ranks.get(other) ?? 0) || groupOf(one).localeCompare(groupOf(other)),
    );
  }
}

export default defineConfig({
  test: {
    // Most tests wait for servers rather than for the processor, so more of them run at once than there are
    // cores.
    maxWorkers: 4,
    // Loading a file's modules again costs more than most of its tests; no module of ours keeps anything from
    // one file to the next.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: [`${ROLES}/**/*.test.ts`, 'test/*.test.ts', 'test/domains/*.test.ts'],
          exclude: [...DATABASE, ...OUTSIDE],
          ...limits(30_000),
        },
      },
      {
        test: {
          name: 'contracts',
          include: ['test/contracts/*.test.ts', `${ROLES}/**/*.{database,pooler}{,.versions}.test.ts`],
          exclude: OUTSIDE,
          ...onPostgres,
          ...limits(60_000),
        },
      },
      {
        test: {
          name: 'e2e',
          include: [E2E, 'test/{own-server,contract,toy}/*.test.ts'],
          exclude: OUTSIDE,
          ...onPostgres,
          ...patient,
        },
      },
      // With each role in two processes behind the ingress: on PostgreSQL alone …
      {
        test: {
          name: 'replicas',
          include: REPLICAS,
          globalSetup: ['test/engines/behind-nginx.ts', ...onPostgres.globalSetup],
          env: { ANNALS_ENGINES: 'embedded' },
          ...patient,
        },
      },
      // … and on EventStoreDB, Kafka, Redis and PostgreSQL.
      {
        test: {
          name: 'journeys',
          include: needing('journey'),
          ...patient,
          globalSetup: ['test/engines/at-scale.ts', ...onPostgres.globalSetup],
          setupFiles: [...patient.setupFiles, 'test/engines/demand-engines.ts'],
          env: { ANNALS_ENGINES: 'at-scale' },
        },
      },
      { test: { name: 'gate', include: GATE, exclude: SPECIAL, ...onPostgres, ...patient } },
      {
        test: {
          name: 'outside',
          // The template's check of a domain runs as authors run it.
          include: [
            ...ELSEWHERE,
            'test/{client,describe,recovery}/*.test.ts',
            'create/template/describe-domain.ts',
          ],
          exclude: [...GATE, ...SPECIAL],
          ...onPostgres,
          ...patient,
        },
      },
      // What depends on the version of PostgreSQL, for the one that TEST_POSTGRES_BIN names.
      { test: { name: 'postgres', include: VERSIONS, ...onPostgres, ...patient } },
      // What depends most on whose a session is, through PgBouncer in the mode that TEST_PGBOUNCER names.
      { test: { name: 'poolers', include: POOLER, ...onPostgres, ...patient } },
      // Our pages in a real browser; those that the ingress could spoil run behind it, in `replicas`.
      {
        test: {
          name: 'pages',
          include: ['test/pages/*.test.ts'],
          exclude: REPLICAS,
          ...onPostgres,
          ...limits(180_000, 180_000),
        },
      },
      {
        test: {
          name: 'conformance',
          include: ['test/conformance/*.test.ts'],
          ...onPostgres,
          ...limits(300_000),
        },
      },
      // The chart in the control plane of a cluster, whose programs are built before (test/tiers/steps.ts).
      {
        test: {
          name: 'kubernetes',
          include: ['test/kubernetes/*.test.ts'],
          globalSetup: ['test/engines/start-reaper.ts'],
          ...limits(600_000, 600_000),
        },
      },
      { test: { name: 'chaos', include: ['test/chaos/**/*.test.ts'], ...onPostgres, ...limits(30_000) } },
    ].map(withoutLeftOut),
  },
});
