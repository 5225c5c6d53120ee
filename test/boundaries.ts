// Over 200 lines, because it is one set of rules: which file may import which.
import { posix } from 'node:path';
import { circlesAmong } from './circles.ts';
import { ALIASED, importsOf, localTarget, type Sources } from './imports.ts';

/** The rules about imports between folders, by path and text. */
const FOLDERS = [
  'command',
  'query',
  'projector',
  'auth',
  'webhook-dispatcher',
  'proof',
  'mcp',
  'inbox',
  'command-line',
  'develop',
  'console',
  'site',
  'process',
  'tanstack',
  'adapters',
  'edge',
  'shared',
  ...['kernel', 'domain'],
];

/** The published folders. They contain none of the repository's own tests. */
export const PUBLISHED: readonly string[] = [...FOLDERS, 'client', 'create', 'package', 'testing'];
const OF_THE_REPOSITORY = 'test';
const RUNNER = 'vitest';
/** Authors of domains choose their test runner. */
const KNOWS_RUNNER = 'package/testing/runner.ts';

/** The rooms that a room imports, which stand below it. The kernel is the ground floor. */
const BELOW: Readonly<Record<string, readonly string[]>> = {
  kernel: ['kernel'],
  create: [],
  shared: ['kernel', 'shared'],
  edge: ['kernel', 'shared', 'edge'],
  adapters: ['kernel', 'shared', 'edge', 'adapters'],
  process: ['kernel', 'shared', 'edge', 'adapters', 'process'],
  command: ['kernel', 'shared', 'edge', 'process'],
  query: ['kernel', 'shared', 'edge', 'process'],
  projector: ['kernel', 'shared', 'process'],
  auth: ['kernel', 'shared', 'edge', 'process'],
  'webhook-dispatcher': ['kernel', 'shared', 'edge', 'adapters', 'process'],
  console: ['kernel', 'shared', 'edge'],
  site: ['kernel', 'shared', 'edge', 'query'],
  proof: ['kernel', 'shared', 'edge', 'process', 'projector', 'query'],
  mcp: ['kernel', 'shared', 'edge', 'query'],
  inbox: ['kernel', 'shared', 'edge', 'process', 'command', 'query'],
  develop: ['kernel', 'shared', 'edge', 'process', 'create'],
  tanstack: ['client'],
};

/** Operator commands are composed of parts of the roles. */
const COMPOSING = 'command-line';

/**
 * The folders of parts within a role, with the others that may import them: the core does not, so that an
 * installation without the part loads none of it. Other parts are rooms of their own.
 */
export const PARTS: Readonly<Record<string, readonly string[]>> = {
  'command/webhooks/': [],
  'query/webhooks/': ['query/graphql/'],
  'query/graphql/': ['site/graphql/', 'command-line/'],
  'query/streams/': [],
  'query/aggregates/': ['query/graphql/'],
  'query/live/': ['query/streams/', 'query/graphql/'],
  'query/sse/': ['query/live/', 'query/streams/', 'query/graphql/', 'site/events/'],
  'query/changes/': ['query/'],
};
const OF_GRAPHQL = ['query/graphql/', 'site/graphql/', 'command-line/'];

/** The places where each driver may appear; everything else uses a port. */
const DRIVERS: Readonly<Record<string, readonly string[]>> = {
  pg: [
    'shared/database/',
    'adapters/embedded-postgres/',
    'shared/event-log/postgres/',
    'shared/change-stream/postgres/',
    'shared/keys/postgres/',
    'edge/rate-limit/postgres/',
  ],
  ...{ '@eventstore/db-client': ['adapters/eventstoredb/'], '@grpc/grpc-js': ['adapters/eventstoredb/'] },
  kafkajs: ['adapters/kafka/'],
  ioredis: ['adapters/redis/', 'webhook-dispatcher/queue/'],
  bullmq: ['webhook-dispatcher/queue/'],
  ...Object.fromEntries(['graphql', 'graphql-http', 'graphql-sse'].map((name) => [name, OF_GRAPHQL])),
  ...Object.fromEntries(['graphql-ws', 'ws'].map((name) => [name, ['query/graphql/sockets/']])),
  '@modelcontextprotocol/server': ['mcp/'],
  '@tanstack/db': ['tanstack/'],
  commander: ['command-line/'],
  '@opentelemetry/api': ['adapters/opentelemetry/'],
  '@opentelemetry/sdk-trace': ['adapters/opentelemetry/'],
};

/** Events, commands, and deciders compute: at run time they import only each other and these. */
const PURE_FOLDERS = ['kernel/', 'domain/', 'shared/events/', 'shared/commands/'];
/** `annals demo` calls the interfaces of the running system and draws pictures. */
const DEMO = 'domain/demo/';
const PURE_PACKAGES = new Set([
  ...['zod', 'croner', 'uuid', 'fast-check'],
  ...['node:assert/strict', 'node:crypto', 'node:module', 'node:url'],
]);
const DECIDER = /^export const \w+: Decider</m;

/** All violations of the rules, one sentence each. */
export const findViolations = (sources: Sources): string[] => {
  const bound = [...sources.keys()].filter(isBound);
  const published = [...sources.keys()].filter(isPublished);
  return [
    ...bound.flatMap((path) => violationsOf(path, sources)),
    ...published.flatMap((path) =>
      importsOf(sources.get(path) ?? '').flatMap(({ specifier }) => strayTests(path, specifier)),
    ),
    ...circlesAmong(published, sources),
  ];
};

/** Tests may import anything, and so may the composition: the files at the root and the command line. */
const isBound = (path: string): boolean => FOLDERS.includes(folderOf(path)) && !path.endsWith('.test.ts');

const isPublished = (path: string): boolean =>
  PUBLISHED.includes(folderOf(path)) && !path.endsWith('.test.ts');

const strayTests = (path: string, specifier: string): string[] => {
  if (specifier === RUNNER && path !== KNOWS_RUNNER)
    return [
      `${path} imports ${specifier}: what is published depends on no test runner, and ${KNOWS_RUNNER} alone knows them.`,
    ];
  // Roles import only themselves and #shared anyway.
  const isRole = FOLDERS.includes(folderOf(path)) && folderOf(path) !== COMPOSING;
  const target = localTarget(path, specifier);
  if (isRole || target === undefined) return [];
  if (folderOf(target) === OF_THE_REPOSITORY)
    return [`${path} imports ${specifier}: the tests of the repository are not published.`];
  if (folderOf(path) === 'testing' && folderOf(target) === 'domain')
    return [`${path} imports ${specifier}: the domain is given to what tests it.`];
  return [];
};

const folderOf = (path: string): string => path.split('/', 1)[0] ?? '';

const violationsOf = (path: string, sources: Sources): string[] => [
  ...importsOf(sources.get(path) ?? '').flatMap(({ specifier, typeOnly }) => [
    ...crossings(path, specifier),
    ...reachedParts(path, specifier),
    ...strayDrivers(path, specifier),
    ...(typeOnly || specifier !== 'node:http' ? [] : [heavy(path)]),
  ]),
  ...(isPure(path, sources) ? impurities(path, sources) : []),
];

/** Starts a role alone, with the domain that the installation serves. */
const entryOf = (path: string): string => `${folderOf(path)}/main.ts`;

const crossings = (path: string, specifier: string): string[] => {
  if (specifier.startsWith('#domain/') && folderOf(path) !== 'domain')
    return [`${path} imports ${specifier}: the domain is given to the roles, and no role knows it.`];
  const below = BELOW[folderOf(path)];
  const [, alias] = /^#([\w-]+)\//.exec(specifier) ?? [];
  if (alias !== undefined && below !== undefined && !below.includes(alias))
    return [`${path} imports ${specifier}: ${folderOf(path)} imports only ${below.join(', ')}.`];
  if (!specifier.startsWith('.') || folderOf(path) === COMPOSING) return [];
  const target = posix.join(posix.dirname(path), specifier);
  if (folderOf(target) === folderOf(path) || target === 'package.json') return [];
  if (path === entryOf(path) && target === 'served.ts') return [];
  if (below?.includes(folderOf(target)) && !ALIASED.has(folderOf(target))) return [];
  return [`${path} imports ${specifier}: ${folderOf(path)} imports itself and what stands below it.`];
};

const reachedParts = (path: string, specifier: string): string[] => {
  const target = localTarget(path, specifier) ?? '';
  const [part, users = []] = Object.entries(PARTS).find(([folder]) => target.startsWith(folder)) ?? [];
  if (part === undefined || [part, ...users].some((folder) => path.startsWith(folder))) return [];
  return [`${path} imports ${specifier}: ${part} is a part, which only ${users.join(', ')} may import.`];
};

const strayDrivers = (path: string, specifier: string): string[] => {
  const homes = DRIVERS[packageOf(specifier)];
  if (homes === undefined || homes.some((home) => path.startsWith(home))) return [];
  return [`${path} imports ${specifier}: that driver stays in ${homes.join(', ')}.`];
};

/** An `import` of it loads a second HTTP client. */
const heavy = (path: string) => `${path} imports node:http: import edge/http/node-http.ts, which loads less.`;

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

const isPure = (path: string, sources: Sources): boolean =>
  (PURE_FOLDERS.some((folder) => path.startsWith(folder)) && !path.startsWith(DEMO)) ||
  (folderOf(path) === 'command' && DECIDER.test(sources.get(path) ?? ''));

/** A pure file may not reach I/O at run time, directly or through others. */
const impurities = (start: string, sources: Sources): string[] => {
  const found = new Set<string>();
  const seen = new Set([start]);
  for (const path of seen) {
    for (const { specifier, typeOnly } of importsOf(sources.get(path) ?? '')) {
      if (typeOnly) continue;
      const target = localTarget(path, specifier);
      if (target !== undefined) seen.add(target);
      else if (!PURE_PACKAGES.has(specifier))
        found.add(`${start} reaches ${specifier} by ${path}: events, commands, and deciders do no I/O.`);
    }
  }
  return [...found];
};
