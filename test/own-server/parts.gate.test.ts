// Own server: each set of parts is an installation of its own.
import { expect, test } from 'vitest';
import type { PartName } from '#kernel/registry/parts.ts';
import { EVERY_PART } from '../../parts.ts';
import { BELONGINGS, expectOnly, PART_NAMES, withNeeded } from '../engines/served-parts.ts';
import { startWith } from '../engines/start-with-parts.ts';

test('there is a test of each part', () => {
  expect(PART_NAMES.toSorted()).toEqual(EVERY_PART.map(({ name }) => name).toSorted());
});

const ALONE = PART_NAMES.filter((name) => withNeeded(name).length === 1);
const OTHERS = PART_NAMES.filter((name) => !ALONE.includes(name));
/**
 * Each part in one set, without half of the others. `parts.long.test.ts` has each part alone, and everything but
 * each.
 */
const SETS: readonly (readonly PartName[])[] = [
  ALONE.filter((_, index) => index % 2 === 0),
  ALONE.filter((_, index) => index % 2 === 1),
  [...new Set(OTHERS.flatMap(withNeeded))],
];

test('each part is served in a set without others', () => {
  expect([...new Set(SETS.flat())].toSorted()).toEqual(PART_NAMES.toSorted());
  for (const set of SETS) expect(PART_NAMES.length - set.length).toBeGreaterThan(PART_NAMES.length / 3);
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
