import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { lookAt } from '../engines/chromium.ts';

/** A window of the console, with what every test does in it. */
export type ConsoleWindow = {
  readonly context: BrowserContext;
  readonly page: Page;
  /** The script errors of the page. */
  readonly complaints: string[];
  /** Waits for the heading of a page. */
  readonly heading: (name: string | RegExp) => Promise<void>;
  /** Opens a section. */
  readonly go: (name: string) => Promise<void>;
  readonly press: (name: string | RegExp) => Promise<void>;
  /** Checks the current page in every respect. */
  readonly look: (name: string) => Promise<void>;
};

type Options = {
  readonly chromium: Browser;
  readonly options: BrowserContextOptions;
  /** The prefix of its pictures. */
  readonly pictures: string;
};

const DEADLINE_MS = 20_000;

export const openConsoleWindow = async ({ chromium, options, pictures }: Options): Promise<ConsoleWindow> => {
  const context = await chromium.newContext(options);
  context.setDefaultTimeout(scaled(DEADLINE_MS));
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => void complaints.push(String(error)));
  const named = (name: string | RegExp) => ({ name, exact: typeof name === 'string' });
  return {
    context,
    page,
    complaints,
    heading: (name) => page.getByRole('heading', { level: 1, ...named(name) }).waitFor(),
    go: (name) =>
      page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name, exact: true }).click(),
    press: (name) => page.getByRole('button', named(name)).click(),
    async look(name) {
      await lookAt(page, `${pictures}-${name}`);
      expect(complaints).toEqual([]);
    },
  };
};
