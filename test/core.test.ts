import { expect, test } from 'vitest';
import { importsOf, localTarget } from './imports.ts';
import { readSources } from './published-sources.ts';

/** The composition with all roles, and the roles of the core alone. */
const STARTS = [
  'all-roles.ts',
  'workers.ts',
  'command/role.ts',
  'query/role.ts',
  'projector/role.ts',
  'process/run-role.ts',
];
const OF_PARTS =
  /^(?:auth|proof|site|console|webhook-dispatcher|(?:command|query)\/webhooks|query\/(?:changes|graphql|live|sse|streams)|client|command-line|testing)\/|^parts\.ts$/;

/** The files that a start may load, now or later: everything that values are imported from. */
const closureOf = (
  starts: readonly string[],
  sources: ReadonlyMap<string, string>,
  { withLater = true } = {},
): ReadonlySet<string> => {
  const reached = new Set(starts);
  for (const path of reached)
    for (const { specifier, typeOnly, isLater } of importsOf(sources.get(path) ?? '')) {
      const target = typeOnly || (isLater && !withLater) ? undefined : localTarget(path, specifier);
      if (target !== undefined) reached.add(target);
    }
  return reached;
};

test('the core imports no part, neither now nor later', () => {
  const sources = readSources();
  const ofParts = (starts: readonly string[]): readonly string[] =>
    [...closureOf(starts, sources)].filter((path) => OF_PARTS.test(path));
  expect(ofParts(STARTS)).toEqual([]);
  expect(ofParts(['parts.ts'])).toEqual(
    expect.arrayContaining([
      'auth/part.ts',
      'command/webhooks/part.ts',
      'console/part.ts',
      'proof/part.ts',
      'proof/rest/part.ts',
      'query/graphql/part.ts',
      'query/live/live.ts',
      'query/streams/part.ts',
      'query/webhooks/part.ts',
      'site/part.ts',
      'webhook-dispatcher/part.ts',
    ]),
  );
});

/** All roles in one process, and the exports with which a domain is declared. */
const AT_START = ['package/index.ts', 'process/run-role.ts', 'all-roles.ts'];
const LINES_MAX = 48_500;
/** Loaded by a setting, or when somebody asks. */
const RARE = /^(?:adapters\/(?:embedded-postgres|opentelemetry|s3)|query\/(?:events|history|operations))\//;

test('before the first request, the core loads only what most installations use', () => {
  const sources = readSources();
  const loaded = [...closureOf(AT_START, sources, { withLater: false })];
  expect(loaded.filter((path) => RARE.test(path))).toEqual([]);
  const lines = loaded.reduce((sum, path) => sum + (sources.get(path)?.split('\n').length ?? 1) - 1, 0);
  expect(lines).toBeLessThan(LINES_MAX);
});
