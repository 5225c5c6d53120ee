// Over 200 lines, because it is one list: which tests run in which project.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { EMBEDDED_SUITES, IN_PROCESS_SUITES } from './test/engines/in-process-suites.ts';

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
  setupFiles: ['test/engines/scale-limits.ts'],
});
/** They start processes. */
const patient = limits(120_000, 120_000);
const roles =
  '{client,command,projector,query,auth,webhook-dispatcher,audit,command-line,shared,kernel,domain}';

/**
 * What is tried with programs of others, which take long to start: engines beside PostgreSQL, clients,
 * browsers; and the life of our own processes. It runs in `npm run test:engines`, so that `npm test` stays
 * quick.
 */
const ENGINES =
  'test/contracts/{*eventstoredb*,*-kafka*,{event-log,change-stream}-postgres,blobs,rate-limit-*,delivery-queue-*}.test.ts';
const KILLED = 'command/process-manager/killed.database.test.ts';
const EMBEDDED_SERVER = [
  'shared/database/embedded.database.test.ts',
  'projector/database-crash.database.test.ts',
];
const PROCESSES = [
  'test/recovery/*.test.ts',
  'test/toy/care.test.ts',
  'test/e2e/{start,start-database,run,first-minute,auth-role,workers,webhooks-queue-broken,graphql-single-connection-copies,erasure,erasure-restored,disk-full,readiness}.test.ts',
  KILLED,
  ...EMBEDDED_SERVER,
];
/** The contracts and the end-to-end suites that depend most on what the server does. */
const DATABASES = [
  'test/contracts/{command-gateway,change-stream-postgres,delivery-queue,event-log-postgres,key-store,rate-limit}.test.ts',
  'test/e2e/{audit,start-database,webhooks}.test.ts',
  'test/recovery/role-and-rights.test.ts',
  'test/contract/{plans,read-model}.test.ts',
];
/** Of these, with rebuilds, what depends most on whose a session is. */
const POOLED =
  '{test/contracts/delivery-queue,test/e2e/audit,test/e2e/start-database,test/e2e/webhooks,shared/projection/rebuild.database}.test.ts';
/** Documentation that is followed as a newcomer does. */
const TUTORIAL = 'test/{tutorial,readme-commands,domain-guide,expenses-example}.test.ts';
const CLIENTS =
  'test/{client/*,e2e/{following-changes,webhook-receivers,graphql-composition,graphql-subscribing-clients,auth-openid-client,auth-oauth4webapi}}.test.ts';
/** What needs tools of other languages. */
const TOOLS =
  'test/{bench,receivers,languages,compose,helm,verify-export,package,release,start-for-test}.test.ts';

/** Whole systems that are exported, imported, and moved to another engine. */
const TRANSFERS = 'audit/export/transfer.database.test.ts';

/**
 * What `describeDomain` says of domains: an installation and a thousand checks each. That of new projects
 * runs as authors run it with vitest.
 */
const DESCRIBED = '{test/describe/*.test,package/create/template/describe-domain}.ts';

const REBUILDS = 'shared/projection/{rebuild,rebuild-live}.database.test.ts';

/**
 * What waits for leases to run out or for revocations to settle, what proves or makes anew whole logs, and
 * what asks very many times.
 */
const LONG = [
  'command/process-manager/take-over.database.test.ts',
  'command/aggregates/limits.database.test.ts',
  'shared/projection/{views,items}.database.test.ts',
  'query/views/feed.database.test.ts',
  'shared/event-log/guard-history.database.test.ts',
  'auth/{first-minute,clients/clients,clients/client-ends}.database.test.ts',
  'command-line/client.database.test.ts',
  'command-line/demo/demo.database.test.ts',
  'projector/takeover.database.test.ts',
  'webhook-dispatcher/queue/troubles.database.test.ts',
  'shared/http/authenticate/revocations.database.test.ts',
  'command-line/{projection,projection-versions,log,log-renew,replay,audit-verify}.database.test.ts',
  'audit/{verify,replay}/*.database.test.ts',
  'test/contracts/{first-release,graphql-codegen}.test.ts',
  'auth/{invitations,own-account,password-reset}/*.database.test.ts',
  'command/rest/{bad-bodies,bad-input}.database.test.ts',
  '{audit,projector}/carry-out-orders.database.test.ts',
  REBUILDS,
  'query/links.database.test.ts',
  'webhook-dispatcher/purge.database.test.ts',
  'auth/{passkeys,second-factor}/*.database.test.ts',
  'query/graphql/planner/{planner,answer-size}.database.test.ts',
  'query/changes/feed-walks.database.test.ts',
  'audit/{chain/verify-chain,watch/watch}.database.test.ts',
  'command/uploads/upload-failures.database.test.ts',
  'shared/projection/any-batches.database.test.ts',
  'query/graphql/subscriptions/shared-renderings.database.test.ts',
  'command/rest/preconditions.database.test.ts',
];

/**
 * What draws or asks very many times, starts servers or waits: on every version of PostgreSQL too, but not in
 * `npm test`.
 */
const SLOW = [
  'kernel/conditions/readings.database.test.ts',
  'query/{consistency,changes/demotion}.database.test.ts',
  'command/{administrators/keep-administrator,process-manager/timers}.database.test.ts',
  'shared/{projection/parked,database/demand-postgres,database/migrate,database/bell/bell}.database.test.ts',
  'auth/{storage/storage,mail/tell-of-address,accounts/sign-up-by-mail}.database.test.ts',
  'audit/{watch/passing,heads/heads,export/switch-log}.database.test.ts',
  'webhook-dispatcher/{stop,take-over}.database.test.ts',
];

/**
 * Domains of their own on every surface: an installation each. Of these `npm test` has the first domain, and
 * rights to parts.
 */
const TOYS =
  'test/toy/{collections,departments,expenses,grown,lending,receipts,spending,teams,workshop}.test.ts';

const SUITES = 'test/e2e/**/*.test.ts';
/** What the product shows is what was recorded of it. */
const CONTRACT = 'test/contract/*.test.ts';
const namedIn = (suites: object): string[] => Object.keys(suites).map((suite) => `test/e2e/${suite}.test.ts`);
/** The end-to-end suites that go through an installation. */
const inCopies = {
  include: [SUITES],
  exclude: namedIn(IN_PROCESS_SUITES),
  ...patient,
};

/**
 * Of the end-to-end suites those that ask very many times, or wait long: on PostgreSQL alone in one process
 * too, but not in `npm test`.
 */
const LONG_SUITES =
  'test/e2e/{account-guessing,account-own,audit,auth-races,events,operations,webhooks,webhooks-shown,graphql-cursor,graphql-rate,graphql-rights,graphql-uploads,rest-rights,trace,security-objects,security-production,security-tokens,graphql-bad-input,graphql-single-connection,graphql-stream-limits,graphql-stream-refusals}.test.ts';

/**
 * On PostgreSQL alone suites run in one process, and these run in copies too: those in which copies meet in
 * PostgreSQL where others meet in Redis. `npm run test:engines:all` runs all of them in copies.
 */
const EMBEDDED_IN_COPIES = 'test/e2e/{erasure-restored,graphql-rate,webhooks}.test.ts';

/** Those pages that the ingress could spoil: what streams, and what loads many files. */
const PAGES_BEHIND_NGINX = 'test/pages/{graphiql,following-changes}.test.ts';

/**
 * What takes longest, first, so that nothing long is left at the end while the other workers have nothing to
 * do.
 */
const LONGEST = [
  'test/package.test',
  'test/describe/',
  'test/chaos/mixed/mixed-load',
  'test/chaos/rolling-restart.test',
  'test/chaos/previous-release',
  'test/chaos/kill-command',
  'test/e2e/start',
  'test/pages/console',
  'test/contracts/change-stream-kafka.test',
  'test/pages/docs-rest',
  'test/e2e/first-minute',
  'test/pages/account.test',
  'shared/database/embedded.database',
  'test/pages/auth',
  'test/contracts/change-stream-kafka-outages',
  'test/pages/docs.test',
  'test/pages/account-passkeys',
  'command-line/log.database',
  'test/contracts/event-log-eventstoredb.test',
  'test/contracts/event-log-postgres',
  'projector/takeover',
  'test/contracts/eventstoredb-stand-in.test',
  'query/graphql/planner/planner.database',
];

/** Then those that share an installation, one after the other; the first that wants its own ends it. */
const SHARING = LONGEST.length;

/** What a suite shares with others, such as `shareInstallation`. */
const sharedBy = (moduleId: string): string | undefined =>
  /\bshare[A-Z]\w+/.exec(readFileSync(moduleId, 'utf8'))?.[0];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = LONGEST.findIndex((part) => moduleId.includes(part));
      if (index !== -1) return index;
      return sharedBy(moduleId) === undefined ? SHARING + 1 : SHARING;
    };
    const ranks = new Map(files.map((file) => [file, rank(file)]));
    // A worker goes when the next file is of another project, and what it shared goes with it.
    const groupOf = (file: TestSpecification): string =>
      ranks.get(file) === SHARING ? `${file.project.name} ${sharedBy(file.moduleId)}` : '';
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
          include: [`${roles}/**/*.test.ts`, 'test/*.test.ts'],
          exclude: ['**/*.database.test.ts', TOOLS, TUTORIAL],
          ...limits(30_000),
        },
      },
      {
        test: {
          name: 'contracts',
          include: ['test/contracts/**/*.test.ts', `${roles}/**/*.database.test.ts`],
          exclude: [ENGINES, TRANSFERS, ...LONG, ...SLOW, ...PROCESSES],
          ...onPostgres,
          ...limits(60_000),
        },
      },
      {
        test: {
          name: 'e2e',
          include: [SUITES, CONTRACT, 'test/toy/*.test.ts'],
          exclude: [CLIENTS, LONG_SUITES, TOYS, DESCRIBED, ...PROCESSES],
          ...onPostgres,
          ...patient,
        },
      },
      // The same suites once more, with each role in two processes behind the ingress: on PostgreSQL alone …
      {
        test: {
          name: 'engines',
          ...inCopies,
          include: [
            ...(process.env.ENGINES_ALL === undefined ? [EMBEDDED_IN_COPIES] : [SUITES]),
            PAGES_BEHIND_NGINX,
          ],
          globalSetup: ['test/engines/behind-nginx.ts', ...onPostgres.globalSetup],
          env: { ANNALS_ENGINES: 'embedded' },
        },
      },
      // … and on EventStoreDB, Kafka, Redis and PostgreSQL.
      {
        test: {
          name: 'engines-at-scale',
          ...inCopies,
          exclude: [...inCopies.exclude, ...namedIn(EMBEDDED_SUITES)],
          globalSetup: ['test/engines/at-scale.ts', ...onPostgres.globalSetup],
          setupFiles: [...inCopies.setupFiles, 'test/engines/demand-engines.ts'],
          env: { ANNALS_ENGINES: 'at-scale' },
        },
      },
      {
        test: {
          name: 'outside',
          include: [
            ENGINES,
            CLIENTS,
            TOOLS,
            TUTORIAL,
            TRANSFERS,
            LONG_SUITES,
            TOYS,
            DESCRIBED,
            ...LONG,
            ...SLOW,
            ...PROCESSES,
          ],
          ...onPostgres,
          ...patient,
        },
      },
      // What every version of PostgreSQL must do alike, for the one that TEST_POSTGRES_BIN names.
      {
        test: {
          name: 'postgres',
          include: [...DATABASES, `${roles}/**/*.database.test.ts`],
          exclude: [TRANSFERS, ...LONG.filter((pattern) => pattern !== REBUILDS), KILLED, ...EMBEDDED_SERVER],
          ...onPostgres,
          ...patient,
        },
      },
      // What depends most on whose a session is, through PgBouncer in the mode that TEST_PGBOUNCER names.
      { test: { name: 'poolers', include: [POOLED], ...onPostgres, ...patient } },
      // Our pages in a real browser.
      {
        test: {
          name: 'pages',
          include: ['test/pages/**/*.test.ts'],
          exclude: [PAGES_BEHIND_NGINX],
          ...onPostgres,
          ...patient,
        },
      },
      {
        test: {
          name: 'conformance',
          include: ['test/conformance/**/*.test.ts'],
          ...onPostgres,
          ...limits(300_000),
        },
      },
      { test: { name: 'chaos', include: ['test/chaos/**/*.test.ts'], ...onPostgres, ...limits(30_000) } },
    ],
  },
});
