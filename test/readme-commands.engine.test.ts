import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryDataDir } from './engines/data-dir.ts';
import { type FollowedPage, openFollowedPage, ROOT } from './engines/followed-page.ts';
import { patternOf, sectionsOf } from './engines/tutorial-page.ts';

const START =
  readFileSync(new URL('../README.md', import.meta.url), 'utf8').split('\n## What you get')[0] ?? '';

const open = new AsyncDisposableStack();
let page: FollowedPage;

beforeAll(async () => {
  const folder = open.use(await temporaryDataDir());
  page = open.use(await openFollowedPage({ folder: ROOT, environment: { DATA_DIR: folder.path } }));
});
afterAll(() => open.disposeAsync());

test.each(sectionsOf(START))('the commands of the README: %s', async (_section, steps) => {
  for (const step of steps) {
    const printed = await page.follow(step);
    if (step.shown !== undefined) expect(printed).toMatch(patternOf(page.here(step.shown)));
  }
});
