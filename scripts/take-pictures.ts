import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { type DemoAccess, readDemoAccess } from '#process/first-minute-file.ts';
import { spawnAnnals } from '../test/annals-process.ts';
import { temporaryDataDir } from '../test/engines/data-dir.ts';

/**
 * Takes the picture of the README: `npm exec -- node scripts/take-pictures.ts`. It starts the demo, and
 * visits it with Chromium (`CHROMIUM`).
 */
const FOLDER = fileURLToPath(new URL('../docs/pictures/', import.meta.url));
const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';
const VIEWPORT = { width: 1120, height: 700 };
const SETTLES_MS = 2_000;

const openConsole = async (
  browser: Browser,
  url: string,
  { email, password }: DemoAccess['administrator'],
): Promise<Page> => {
  const context = await browser.newContext({
    viewport: VIEWPORT,
    colorScheme: 'light',
    locale: 'en-GB',
    timezoneId: 'UTC',
  });
  const page = await context.newPage();
  await page.goto(`${url}/console`);
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  return page;
};

/** Waits for animations to end. */
const take = async (page: Page, name: string): Promise<void> => {
  await page.mouse.move(0, 0);
  await page.evaluate('document.activeElement.blur()');
  await delay(SETTLES_MS);
  await page.screenshot({ path: `${FOLDER}${name}.png` });
};

/** The history of the article that was changed without permission, at an earlier time. */
const takeHistory = async (page: Page, address: string): Promise<void> => {
  await page.goto(address);
  await page.getByRole('slider').focus();
  await page.keyboard.press('ArrowLeft');
  await take(page, 'history');
};

await using folder = await temporaryDataDir();
const port = String(await freePort());
await using demo = spawnAnnals(['annals.ts', 'demo'], { DATA_DIR: folder.path, PORT: port });
await demo.said(/Annals is at/);
const access = await readDemoAccess(folder.path);
if (access === undefined) throw new Error('annals demo has left no access');
const url = `http://localhost:${port}`;
const browser = await chromium.launch({
  executablePath: EXECUTABLE,
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
try {
  const page = await openConsole(browser, url, access.administrator);
  await takeHistory(page, url + access.lookAt.path);
} finally {
  await browser.close();
}
