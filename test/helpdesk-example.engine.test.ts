import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryDataDir } from './engines/data-dir.ts';
import { type FollowedPage, openFollowedPage, ROOT } from './engines/followed-page.ts';
import { patternOf, sectionsOf } from './engines/tutorial-page.ts';

/** Follows the page of the third domain. */
const SECTIONS = sectionsOf(readFileSync(new URL('../examples/helpdesk/README.md', import.meta.url), 'utf8'));

const open = new AsyncDisposableStack();
let page: FollowedPage;

beforeAll(async () => {
  const data = open.use(await temporaryDataDir());
  page = open.use(await openFollowedPage({ folder: ROOT, others: { '.data/helpdesk': data.path } }));
});
afterAll(() => open.disposeAsync());

test.each(SECTIONS)('%s', async (_section, steps) => {
  for (const step of steps) {
    const printed = await page.follow(step);
    if (step.shown !== undefined) expect(printed).toMatch(patternOf(page.here(step.shown)));
  }
});

test('Ctrl+C stops it', async () => {
  await page.stop();
  await expect(fetch(page.here('http://127.0.0.1:4000/livez'))).rejects.toThrow();
});
