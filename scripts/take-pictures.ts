import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { publishing } from '#domain/publishing.ts';
import { freePort } from '#shared/database/embedded/free-port.ts';
import { runCommandLine } from '../command-line/program.ts';
import { temporaryDataDir } from '../test/engines/data-dir.ts';
import { startRole } from '../test/engines/role-process.ts';

/**
 * Takes the picture of the README: `npm exec -- node scripts/take-pictures.ts`. It fills a system of its own with the demo, whose people go on for a
 * minute, and looks at it with Chromium (`CHROMIUM`).
 */
const FOLDER = fileURLToPath(new URL('../docs/pictures/', import.meta.url));
const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';
const MINUTES = 1;
const VIEWPORT = { width: 1120, height: 700 };
const SETTLES_MS = 2_000;

type Administrator = { readonly email: string; readonly password: string };

const fillAndGoOn = (environment: Readonly<Record<string, string>>, signal: AbortSignal) => {
  const { promise, resolve, reject } = Promise.withResolvers<Administrator>();
  const write = async (text: string): Promise<void> => {
    const [, email, password] = /Sign in as (\S+), an administrator, with the password (\S+)/.exec(text) ?? [];
    if (email !== undefined && password !== undefined) resolve({ email, password });
  };
  const ended = runCommandLine(['demo', '--traffic', `${MINUTES + 5}m`], {
    domain: publishing,
    demo: () => import('#domain/demo/demo.ts'),
    environment,
    signal,
    write,
    complain: console.error,
  });
  ended.then((exit) => reject(new Error(`annals demo ended with ${exit}`)), reject);
  return { administrator: promise, ended };
};

const openConsole = async (browser: Browser, url: string, { email, password }: Administrator) => {
  const context = await browser.newContext({ viewport: VIEWPORT, colorScheme: 'light', locale: 'en-GB', timezoneId: 'UTC' });
  const page = await context.newPage();
  await page.goto(`${url}/console`);
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  return page;
};

/** What moves, such as a plot that is drawn, is given a moment. */
const take = async (page: Page, name: string): Promise<void> => {
  await page.mouse.move(0, 0);
  await page.evaluate('document.activeElement.blur()');
  await delay(SETTLES_MS);
  await page.screenshot({ path: `${FOLDER}${name}.png` });
};

type Listed = readonly { readonly id: number; readonly title: string }[];

/** An article that was given another title, as it was before. */
const takeHistory = async (page: Page, url: string): Promise<void> => {
  const found = (await (await fetch(`${url}/articles?limit=100&sort=createdAt`)).json()) as Listed;
  const article = found.find(({ title }) => RETITLED.includes(title)) ?? found[0];
  await page.goto(`${url}/console/items/articles/${article?.id}`);
  await page.getByRole('region', { name: 'History' }).waitFor();
  await page.getByRole('slider').focus();
  await page.keyboard.press('ArrowLeft');
  await take(page, 'history');
};

const RETITLED = [
  'Keeping a tide table by hand',
  'A loaf that remembers the week',
  'Who lit Harbour Street',
  'How an old bridge is listened to',
];

await using folder = await temporaryDataDir();
const settings = { DATA_DIR: folder.path, PORT: String(await freePort()), NODE_ENV: 'development' };
await using main = startRole('main.ts', settings);
await main.logged('Annals is ready.');
const url = `http://localhost:${settings.PORT}`;
const browser = await chromium.launch({ executablePath: EXECUTABLE, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
const ending = new AbortController();
process.once('SIGINT', () => ending.abort());
const { administrator, ended } = fillAndGoOn(settings, ending.signal);
try {
  const known = await administrator;
  await delay(MINUTES * 60_000, undefined, { signal: ending.signal });
  const page = await openConsole(browser, url, known);
  await takeHistory(page, url);
} finally {
  ending.abort();
  await browser.close();
  await ended;
}
