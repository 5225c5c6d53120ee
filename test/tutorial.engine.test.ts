import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openHandBrowser } from '../testing/http/browser-by-hand.ts';
import { until } from '../testing/until.ts';
import { temporaryDataDir } from './engines/data-dir.ts';
import { type FollowedPage, openFollowedPage, ROOT } from './engines/followed-page.ts';
import { patternOf, sectionsOf } from './engines/tutorial-page.ts';

/** Follows the tutorial: its own blocks, in order. */
const SECTIONS = sectionsOf(readFileSync(new URL('../docs/tutorial.md', import.meta.url), 'utf8'));
const NEEDS_A_PERSON = 'sign-in.js';

const open = new AsyncDisposableStack();
let page: FollowedPage;

beforeAll(async () => {
  const folder = open.use(await temporaryDataDir());
  page = open.use(await openFollowedPage({ folder: ROOT, environment: { DATA_DIR: folder.path } }));
});
afterAll(() => open.disposeAsync());

test.each(SECTIONS)('%s', async (_section, steps) => {
  for (const step of steps) {
    const printed = await page.follow(
      step,
      step.text.includes(NEEDS_A_PERSON) ? signInWhereAsked : undefined,
    );
    if (step.shown !== undefined) expect(printed).toMatch(patternOf(page.here(step.shown)));
  }
});

test('Ctrl+C stops it', async () => {
  await page.stop();
  await expect(fetch(page.here('http://127.0.0.1:4000/livez'))).rejects.toThrow();
});

const ASKS_MS = 100_000;

/**
 * Opens the address that the terminal shows, as the author whom the start has printed, and allows the
 * request.
 */
const signInWhereAsked = async (): Promise<void> => {
  const address = /Open (\S+)/.exec(
    await until(page.shell.printed, (seen) => seen.includes('Open http'), ASKS_MS),
  )?.[1];
  const [, email = '', password = ''] = /Sign in as (\S+) with the password (\S+)/.exec(page.banner()) ?? [];
  const browser = openHandBrowser();
  const signIn = await browser.follow(await browser.get(address ?? ''));
  const consent = await browser.follow(
    await browser.post(signIn.action, { ...signIn.hidden, email, password }),
  );
  const back = await browser.follow(
    await browser.post(consent.action, { ...consent.hidden, decision: 'allow' }),
  );
  await fetch(back.location ?? '');
};
