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
const LINES_MAX = 42_950;
/** Loaded by a setting, or when somebody asks. */
const RARE = /^(?:adapters\/(?:embedded-postgres|opentelemetry|s3)|query\/(?:events|history|operations))\//;

test('before the first request, the core loads only what most installations use', () => {
  const sources = readSources();
  const loaded = [...closureOf(AT_START, sources, { withLater: false })];
  expect(loaded.filter((path) => RARE.test(path))).toEqual([]);
  const lines = loaded.reduce((sum, path) => sum + (sources.get(path)?.split('\n').length ?? 1) - 1, 0);
  expect(lines).toBeLessThan(LINES_MAX);
});
