import { randomUUID } from 'node:crypto';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { test as base, expect } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { password } from '../engines/account-visit.ts';
import { openAccountsSite } from '../engines/accounts-site.ts';
import {
  type Device,
  expectAccessible,
  expectFitting,
  openChromium,
  picture,
  SIZES,
} from '../engines/chromium.ts';

/** A window in which a user manages their account. */
type AccountWindow = AsyncDisposable & {
  readonly context: BrowserContext;
  readonly page: Page;
  /** The browser's messages, including script errors. */
  readonly complaints: readonly string[];
  /** Each does something on the page, or on the page of another window. */
  press(button: string, on?: Page): Promise<void>;
  fill(fields: Readonly<Record<string, string>>, on?: Page): Promise<void>;
  signIn(email: string, password?: string, on?: Page): Promise<void>;
  /** Checks it in every respect. */
  look(title: string, name: string, on?: Page): Promise<void>;
};

const DEADLINE_MS = 15_000;

export const eventually = <Value>(look: () => Promise<Value> | Value) =>
  expect.poll(look, { timeout: scaled(DEADLINE_MS) });

const openAccountWindow = async (
  chromium: Browser,
  { size, options }: Device,
  pictures: string,
): Promise<AccountWindow> => {
  const context = await chromium.newContext(options);
  context.setDefaultTimeout(scaled(DEADLINE_MS));
  const page = await context.newPage();
  // In another window, with scripts: a page uses the authenticator only while it is in front.
  const scripted = await (await chromium.newContext({ ...options, javaScriptEnabled: true })).newPage();
  const complaints: string[] = [];
  page.on('console', (message) => void complaints.push(message.text()));
  page.on('pageerror', (error) => void complaints.push(String(error)));
  const press: AccountWindow['press'] = (name, on = page) =>
    on.getByRole('button', { name, exact: true }).click();
  const fill: AccountWindow['fill'] = async (fields, on = page) => {
    for (const [label, text] of Object.entries(fields))
      await on.getByLabel(label, { exact: true }).fill(text);
  };
  return {
    context,
    page,
    complaints,
    press,
    fill,
    async signIn(email, typed = password, on = page) {
      await fill({ 'E-mail address': email, Password: typed }, on);
      await press('Sign in', on);
    },
    async look(title, name, on = page) {
      await eventually(() => on.title()).toBe(`${title} · Annals`);
      await picture(on, `${pictures}-${size}-${name}`);
      await expectFitting(on);
      await expectAccessible(on, scripted);
    },
    async [Symbol.asyncDispose]() {
      await context.close();
      await scripted.context().close();
    },
  };
};

const [[DESKTOP, DESKTOP_OPTIONS]] = SIZES;

/**
 * An accounts site for each file, and for each test a new window on a device. A file chooses the names of its
 * pictures, whether pages may use scripts, and which messages of the browser are allowed.
 */
export const test = base
  .extend('siteOptions', { scope: 'file' }, { signUp: 'off' } as Parameters<typeof openAccountsSite>[0])
  .extend('site', { scope: 'file' }, async ({ siteOptions }, { onCleanup }) => {
    const site = await openAccountsSite(siteOptions);
    onCleanup(() => site[Symbol.asyncDispose]());
    await site.addClient('reading-list');
    return site;
  })
  /** Adds a person, who has the usual password; returns their address. */
  .extend('somebody', { scope: 'file' }, ({ site }) => async (role: 'author' | 'admin' = 'author') => {
    const email = `${randomUUID().slice(0, 8)}@example.com`;
    await site.addPerson({ email, password, role });
    return email;
  })
  .extend('chromium', { scope: 'file' }, ({ site: _shown }, { onCleanup }) => openChromium(onCleanup))
  .extend('pictures', { scope: 'file' }, 'account' as string)
  .extend('javaScriptEnabled', { scope: 'file' }, false as boolean)
  .extend(
    'isAllowed',
    { scope: 'file' },
    () => (message: string) => !message.includes('Content Security Policy'),
  )
  .extend('device', { size: DESKTOP, options: DESKTOP_OPTIONS } as Device)
  .extend(
    'window',
    async (
      { chromium, device: { size, options }, isAllowed, javaScriptEnabled, pictures },
      { onCleanup },
    ) => {
      const device = { size, options: { ...options, javaScriptEnabled } };
      const window = await openAccountWindow(chromium, device, pictures);
      onCleanup(async () => {
        await window[Symbol.asyncDispose]();
        expect(window.complaints.filter((message) => !isAllowed(message))).toEqual([]);
      });
      return window;
    },
  );
