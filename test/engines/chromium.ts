import { existsSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { countStart } from './starts.ts';

/** Debian's package. Nothing is installed from here: `.ci/install-programs` does that. */
const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Tests in Chromium. Without one they are skipped with the reason, and fail on CI. */
export const describeInChromium = (name: string, tests: () => void): void => {
  const isMissing = !existsSync(EXECUTABLE);
  const reason = `“${name}” needs Chromium at ${EXECUTABLE}: apt-get install chromium, or set CHROMIUM to one`;
  if (isMissing && process.env.CI === 'true') throw new Error(reason);
  if (isMissing) console.warn(reason);
  describe.skipIf(isMissing)(name, tests);
};

/**
 * The browser of this worker, because starting one costs more than most tests. `close` closes all its pages;
 * Chromium itself ends with the worker, which it reads from.
 */
export const launchChromium = async (): Promise<Browser> => {
  if (!(await launched)?.isConnected()) launched = launch();
  const browser = (await launched) as Browser;
  const closePages = async (): Promise<void> =>
    void (await Promise.all(browser.contexts().map((context) => context.close())));
  return new Proxy(browser, {
    get(target, property) {
      if (property === 'close' || property === Symbol.asyncDispose) return closePages;
      const value = Reflect.get(target, property);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
};

let launched: Promise<Browser> | undefined;

/** Root, the user in containers, cannot use Chromium's sandbox. */
const launch = (): Promise<Browser> => {
  countStart('process', 'chromium');
  return chromium.launch({
    executablePath: EXECUTABLE,
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    handleSIGINT: false,
  });
};

/** The same for a fixture, which closes it. */
export const openChromium = async (onCleanup: (close: () => Promise<void>) => void): Promise<Browser> => {
  const chromium = await launchChromium();
  onCleanup(() => chromium.close());
  return chromium;
};

/** A size and a colour scheme by name. */
export type Device = { readonly size: string; readonly options: BrowserContextOptions };

/** The devices for our pages, each with one size and one colour scheme. */
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

/** The sizes of an operator, with more room. */
export const CONSOLE_SIZES = [
  ['desktop', { ...SIZES[0][1], viewport: { width: 1280, height: 850 } }],
  ['phone', { ...SIZES[1][1], viewport: { width: 390, height: 844 } }],
] as const;

/** In the gate a file has one of the sizes, and in `test:all` each. */
export const sizesOf = <Sizes extends readonly (readonly [string, unknown])[]>(
  sizes: Sizes,
  inGate: Sizes[number][0],
): readonly Sizes[number][] =>
  process.env.ANNALS_TEST_TIER === 'gate' ? sizes.filter(([name]) => name === inGate) : sizes;

/** Saves a picture for people, if SCREENSHOTS names a folder. */
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

/** Only the number of passes: their details are most of the output of axe-core. */
const JUDGE = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations, passes }) => ({ violations, passes: passes.length }))`;

/** Fewer mean that it has not seen the page. */
const PASSES_MIN = 5;

/**
 * Expects no violations of axe-core. It needs scripts, so it gets a copy of a page without scripts in a
 * browser that runs them.
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

/** The elements that end to the right of the window, if the page can be moved there. */
const STICKS_OUT = `{
  const { scrollWidth, clientWidth } = document.documentElement;
  const beyond = ({ right }) => right > clientWidth + 1;
  scrollWidth > clientWidth
    ? ['the page: ' + scrollWidth + ' of ' + clientWidth + ' pixels', ...[...document.querySelectorAll('body *')]
        .filter((each) => beyond(each.getBoundingClientRect()))
        .map((each) => each.outerHTML.slice(0, 150))]
    : [];
}`;

/** Nothing overflows to the right, where nobody would look for it. */
export const expectFitting = async (page: Page): Promise<void> => {
  const sticksOut = await page.evaluate<readonly string[]>(STICKS_OUT);
  expect(sticksOut.slice(0, 10), await page.title()).toEqual([]);
};

/** Saves a picture of a page, which must fit and be accessible. */
export const lookAt = async (page: Page, name: string): Promise<void> => {
  await picture(page, name);
  await expectFitting(page);
  await expectAccessible(page);
};

/** Records layout shifts without user input. */
export const watchShifts = (page: Page): Promise<unknown> =>
  page.addInitScript(`
    window.shifts = [];
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shifts.push(value);
    }).observe({ type: 'layout-shift', buffered: true });
  `);

/** `most` is a sum of shares of the window; up to a tenth counts as stable. */
export const expectStill = async (page: Page, most = 0): Promise<void> => {
  const shifts = await page.evaluate<number[]>('window.shifts');
  expect(
    shifts.reduce((sum, shift) => sum + shift, 0),
    `${page.url()}: ${shifts.join()}`,
  ).toBeLessThanOrEqual(most);
};
