import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { expectAccessible, expectFitting, picture } from '../engines/chromium.ts';

/** A window in which a user manages their account. */
export type AccountWindow = AsyncDisposable & {
  readonly context: BrowserContext;
  readonly page: Page;
  /** The browser's messages, including script errors. */
  readonly complaints: readonly string[];
  /** Checks a page in every respect; a page of another window may be checked as well. */
  look(page: Page, title: string, name: string): Promise<void>;
};

type Options = {
  readonly chromium: Browser;
  readonly options: BrowserContextOptions;
  /** The prefix of its pictures. */
  readonly pictures: string;
};

const DEADLINE_MS = 15_000;

export const eventually = <Value>(look: () => Promise<Value> | Value) =>
  expect.poll(look, { timeout: scaled(DEADLINE_MS) });

export const openAccountWindow = async ({ chromium, options, pictures }: Options): Promise<AccountWindow> => {
  const context = await chromium.newContext(options);
  context.setDefaultTimeout(scaled(DEADLINE_MS));
  const page = await context.newPage();
  // In another window, with scripts: a page uses the authenticator only while it is in front.
  const scripted = await (await chromium.newContext({ ...options, javaScriptEnabled: true })).newPage();
  const complaints: string[] = [];
  page.on('console', (message) => void complaints.push(message.text()));
  page.on('pageerror', (error) => void complaints.push(String(error)));
  return {
    context,
    page,
    complaints,
    async look(page, title, name) {
      await eventually(() => page.title()).toBe(`${title} · Annals`);
      await picture(page, `${pictures}-${name}`);
      await expectFitting(page);
      await expectAccessible(page, scripted);
    },
    async [Symbol.asyncDispose]() {
      await context.close();
      await scripted.context().close();
    },
  };
};
