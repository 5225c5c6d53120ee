import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '#shared/database/embedded/free-port.ts';
import { openHandBrowser } from './engines/browser-by-hand.ts';
import { temporaryDataDir } from './engines/data-dir.ts';
import { patternOf, type Step, stepsOf } from './engines/tutorial-page.ts';
import { openTutorialTerminal, type TutorialTerminal } from './engines/tutorial-terminal.ts';
import { until } from './engines/until.ts';

/** The first hour, as the page tells it: its own blocks, in their order, in two terminals. Only the ports are others. */
const STEPS = stepsOf(readFileSync(new URL('../docs/tutorial.md', import.meta.url), 'utf8'));
const NEEDS_A_PERSON = 'sign-in.js';

const open = new AsyncDisposableStack();
const ports = new Map<string, string>();
let server: TutorialTerminal;
let shell: TutorialTerminal;
let banner = '';

beforeAll(async () => {
  for (const port of ['4000', '8080', '3000']) ports.set(port, String(await freePort()));
  const folder = open.use(await temporaryDataDir());
  const environment = { DATA_DIR: folder.path };
  server = open.use(openTutorialTerminal({ ...environment, PORT: ports.get('4000') ?? '', METRICS_PORT: '0', INTERNAL_PORT: '0' }));
  shell = open.use(openTutorialTerminal(environment));
});
afterAll(() => open.disposeAsync());

const here = (text: string): string => text.replaceAll(/\b(?<=:|PORT=)(4000|8080|3000)\b/g, (port) => ports.get(port) ?? port);

const SECTIONS = [...new Set(STEPS.map(({ section }) => section))];
const named = SECTIONS.map((section) => [section, STEPS.filter((step) => step.section === section)] as const);

test.each(named)('%s', async (_section, steps) => {
  for (const step of steps) {
    const printed = await follow(step);
    if (step.shown !== undefined) expect(printed).toMatch(patternOf(here(step.shown)));
  }
});

test('Ctrl+C stops it', async () => {
  await server.interrupt();
  await expect(fetch(`http://127.0.0.1:${ports.get('4000')}/livez`)).rejects.toThrow();
});

const follow = async ({ where, commands, shown }: Step): Promise<string> => {
  const shows = (printed: string) => shown === undefined || patternOf(here(shown)).test(printed);
  if (where === 'server') {
    // It goes on, so that nobody waits for its end.
    server.type(here(commands)).catch(() => {});
    banner = await until(server.printed, shows, STARTS_MS);
    return banner;
  }
  const typed = shell.type(here(commands), shows);
  const [printed] = await Promise.all([typed, ...(commands.includes(NEEDS_A_PERSON) ? [signInWhereAsked()] : [])]);
  return printed;
};

const STARTS_MS = 100_000;

/** Opens the address that the terminal shows, as the author whom the start has printed, and allows what is asked for. */
const signInWhereAsked = async (): Promise<void> => {
  const address = /Open (\S+)/.exec(await until(shell.printed, (seen) => seen.includes('Open http'), STARTS_MS))?.[1];
  const [, email = '', password = ''] = /Sign in as (\S+) with the password (\S+)/.exec(banner) ?? [];
  const browser = openHandBrowser();
  const signIn = await browser.follow(await browser.get(address ?? ''));
  const consent = await browser.follow(await browser.post(signIn.action, { ...signIn.hidden, email, password }));
  const back = await browser.follow(await browser.post(consent.action, { ...consent.hidden, decision: 'allow' }));
  await fetch(back.location ?? '');
};
