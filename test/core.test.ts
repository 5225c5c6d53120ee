import { posix } from 'node:path';
import { expect, test } from 'vitest';
import { PARTS } from './boundaries.ts';
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
  const doors = importsOf(sources.get('parts.ts') ?? '').flatMap(
    ({ specifier, isLater }) => (isLater ? localTarget('parts.ts', specifier) : undefined) ?? [],
  );
  expect(doors.length).toBeGreaterThan(10);
  const folders = new Set([...doors.map((door) => `${posix.dirname(door)}/`), ...Object.keys(PARTS)]);
  const isOfPart = (path: string): boolean =>
    path === 'parts.ts' || [...folders].some((folder) => path.startsWith(folder));
  expect([...closureOf(STARTS, sources)].filter(isOfPart)).toEqual([]);
  for (const folder of folders)
    expect(
      [...closureOf(['parts.ts'], sources)].some((path) => path.startsWith(folder)),
      `parts.ts loads ${folder}`,
    ).toBe(true);
});

/** All roles in one process, and the exports with which a domain is declared. */
const AT_START = ['package/index.ts', 'process/run-role.ts', 'all-roles.ts'];
const LINES_MAX = 42_830;
/** Loaded by a setting, when somebody asks, or for a domain that has such words. */
const RARE = [
  /^adapters\/(?:embedded-postgres|opentelemetry|s3)\//,
  /^query\/(?:aggregates|events|history|operations)\//,
  /^command\/(?:claims\/|aggregates\/limits|cover-remover\/lost)/,
  /^kernel\/rest\/(?:aggregates|views)\.ts/,
  /^shared\/(?:change-stream\/postgres\/|projection\/(?:items|shares)\.ts|webhooks\/counts\.ts)/,
  // The schemas of answers.
  /^(?:kernel\/base|shared)\/rest\/(?:erasure|event-types|events|history|item-proof|operator|readers|recorded-event)\.ts/,
];

test('before the first request, the core loads only what most installations use', () => {
  const sources = readSources();
  const loaded = [...closureOf(AT_START, sources, { withLater: false })];
  for (const rare of RARE) {
    expect(
      [...sources.keys()].some((path) => rare.test(path)),
      String(rare),
    ).toBe(true);
    expect(loaded.filter((path) => rare.test(path))).toEqual([]);
  }
  const lines = loaded.reduce((sum, path) => sum + (sources.get(path)?.split('\n').length ?? 1) - 1, 0);
  expect(lines).toBeLessThan(LINES_MAX);
});
