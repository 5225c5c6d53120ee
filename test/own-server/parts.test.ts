// Own server: each set of parts is an installation of its own.
import { expect, test } from 'vitest';
import type { PartName } from '#kernel/registry/parts.ts';
import { EVERY_PART } from '../../parts.ts';
import { BELONGINGS, expectOnly, needs, PART_NAMES, withNeeded } from '../engines/served-parts.ts';
import { startWith } from '../engines/start-with-parts.ts';

test('there is a test of each part', () => {
  expect(PART_NAMES.toSorted()).toEqual(EVERY_PART.map(({ name }) => name).toSorted());
});

type Pair = readonly [served: PartName, absent: PartName];
const PAIRS: readonly Pair[] = PART_NAMES.flatMap((served) =>
  PART_NAMES.filter((absent) => !needs(served, absent)).map((absent) => [served, absent] as const),
);

/**
 * Few sets, of which each part is in one that lacks another part, for every two of them: a part that drags
 * another one in is found. Each part has another pair of sets; those that need others have a set of their own.
 * `parts.long.test.ts` has each part alone, and everything but each.
 */
const separatingSets = (): readonly (readonly PartName[])[] => {
  const alone = PART_NAMES.filter((name) => withNeeded(name).length === 1);
  const pairs = new Map<PartName, readonly number[]>();
  let last = 0;
  for (let first = 0; pairs.size < alone.length; first += 1) {
    if (first >= last) [first, last] = [0, last + 1];
    pairs.set(alone[pairs.size] as PartName, [first, last]);
  }
  return [
    ...Array.from({ length: last + 1 }, (_, index) =>
      alone.filter((name) => pairs.get(name)?.includes(index)),
    ),
    ...PART_NAMES.filter((name) => !alone.includes(name)).map(withNeeded),
  ];
};
const SETS = separatingSets();

test('each part is served without each other one that it does not need', () => {
  const isSeparated = ([one, other]: Pair) => SETS.some((set) => set.includes(one) && !set.includes(other));
  expect(PAIRS.filter((pair) => !isSeparated(pair))).toEqual([]);
  expect(SETS.length).toBeLessThan(PART_NAMES.length);
});

test.each([[], ...SETS].map((set) => [set.join(', ') || 'no part', set] as const))(
  'the core with %s serves nothing of the other parts, and loads none of their modules',
  (_, parts) => expectOnly(parts),
);

test('the documentation leads to no page of an absent part', async () => {
  await using annals = await startWith(['docs']);
  const paths: string[] = [];
  for (const page of ['/docs', '/docs/rest', '/docs/events', '/docs/scopes', '/docs/errors']) {
    const html = await (await annals.get(page, 'text/html')).text();
    for (const [, to = ''] of html.matchAll(/href="([^"#:]+)["#]/g))
      paths.push(new URL(to, `${annals.url}${page}`).pathname);
  }
  expect(paths.length).toBeGreaterThan(20);
  const gone: string[] = [];
  for (const path of new Set(paths)) {
    const { status, body } = await annals.get(path, 'text/html');
    await body?.cancel();
    if (status === 404) gone.push(path);
  }
  expect(gone).toEqual([]);
  const loaded = await annals.modules();
  expect(loaded.filter((path) => BELONGINGS.graphql.modules.test(path))).toEqual([]);
});
