import { existsSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

/** Debian's package. Nothing is installed from here: `.ci/run` does that. */
const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Why there is no browser to test with; on CI that is a failure and no reason. */
export const chromiumMissing = (): string | undefined => {
  if (existsSync(EXECUTABLE)) return undefined;
  const reason = `there is no Chromium at ${EXECUTABLE}: apt-get install chromium, or set CHROMIUM to one`;
  if (process.env.CI === 'true') throw new Error(reason);
  return reason;
};

/** Root, as whom containers run, cannot use Chromium's sandbox. */
export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: EXECUTABLE,
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    handleSIGINT: false,
  });

/** On what our pages are looked at: each in one size and one scheme of colours. */
export const SIZES = [
  ['desktop', { viewport: { width: 1280, height: 800 }, colorScheme: 'light' }],
  [
    'phone',
    {
      viewport: { width: 360, height: 740 },
      colorScheme: 'dark',
      isMobile: true,
      hasTouch: true,
      deviceScaleFactor: 2,
    },
  ],
] as const;

/** Keeps a picture where SCREENSHOTS names a folder, for somebody to look at. */
export const picture = async (page: Page, name: string): Promise<void> => {
  const folder = process.env.SCREENSHOTS;
  if (folder !== undefined && folder !== '')
    await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
};

type Violation = {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
};

type Judged = { readonly violations: readonly Violation[]; readonly passes: number };

/** Of what is well only how much: it is most of what axe-core says. */
const JUDGE = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations, passes }) => ({ violations, passes: passes.length }))`;

/** Fewer would mean that it has not seen the page. */
const PASSES_MIN = 5;

/**
 * What axe-core finds: nothing. It needs scripts, so of a page that runs none it is given a copy in a browser
 * that does.
 */
export const expectAccessible = async (page: Page, scripted?: Page): Promise<void> => {
  await scripted?.setContent(await page.content());
  const looked = scripted ?? page;
  await looked.evaluate(axe.source);
  const { violations, passes } = await looked.evaluate<Judged>(JUDGE);
  expect(passes).toBeGreaterThan(PASSES_MIN);
  const found = violations.map(
    ({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(({ html }) => html).join(' ')}`,
  );
  expect(found, await page.title()).toEqual([]);
};

/** Nothing sticks out to the right, where nobody would look for it. */
export const expectFitting = async (page: Page): Promise<void> => {
  const sticksOut = await page.evaluate(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  );
  expect(sticksOut, await page.title()).toBe(false);
};

/** Takes note of what moves without anybody having done anything. */
export const watchShifts = (page: Page): Promise<unknown> =>
  page.addInitScript(`
    window.shifts = [];
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shifts.push(value);
    }).observe({ type: 'layout-shift', buffered: true });
  `);

/** `most` is a sum of shares of the window; a tenth of it is what people call still. */
export const expectStill = async (page: Page, most = 0): Promise<void> => {
  const shifts = await page.evaluate<number[]>('window.shifts');
  expect(
    shifts.reduce((sum, shift) => sum + shift, 0),
    `${page.url()}: ${shifts.join()}`,
  ).toBeLessThanOrEqual(most);
};
