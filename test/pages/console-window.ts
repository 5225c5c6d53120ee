import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Person } from '../../testing/http/people.ts';
import { scaled } from '../../testing/load.ts';
import { CONSOLE_SIZES, type Device, lookAt } from '../engines/chromium.ts';
import { signInOn, signUpOperator } from '../engines/console.ts';
import { test as base } from './chromium-fixture.ts';

/** A window of the console, with what every test does in it. */
type ConsoleWindow = {
  readonly context: BrowserContext;
  readonly page: Page;
  /** The script errors of the page. */
  readonly complaints: string[];
  /** Waits for the heading of a page. */
  readonly heading: (name: string | RegExp) => Promise<void>;
  /** Opens a section. */
  readonly go: (name: string) => Promise<void>;
  readonly press: (name: string | RegExp) => Promise<void>;
  /** Follows the first link with this text. */
  readonly follow: (text: string) => Promise<void>;
  readonly fill: (label: string, text: string) => Promise<void>;
  /** Checks the current page in every respect. */
  readonly look: (name: string) => Promise<void>;
};

const DEADLINE_MS = 20_000;

const openConsoleWindow = async (
  chromium: Browser,
  { size, options }: Device,
  pictures: string,
): Promise<ConsoleWindow> => {
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
    follow: (text) => page.getByRole('main').getByRole('link', { name: text, exact: true }).first().click(),
    fill: (label, text) => page.getByLabel(label, { exact: true }).fill(text),
    async look(name) {
      await lookAt(page, `${pictures}-${size}-${name}`);
      expect(complaints).toEqual([]);
    },
  };
};

/** Keeps what was opened for each device. */
export const oncePerDevice = <Opened>(open: (device: Device) => Promise<Opened>) => {
  const opened = new Map<string, Promise<Opened>>();
  return (device: Device): Promise<Opened> => {
    const promised = opened.get(device.size) ?? open(device);
    opened.set(device.size, promised);
    return promised;
  };
};

const [[DESKTOP, DESKTOP_OPTIONS]] = CONSOLE_SIZES;

/**
 * An installation for each file, with an operator, who is an administrator. All tests on one device use the
 * same window of the console. A file chooses the names of its pictures, and how it opens windows.
 */
export const test = base
  .extend('operator', { scope: 'file' }, ({ installation, people }) => signUpOperator(installation, people))
  .extend('pictures', { scope: 'file' }, 'console' as string)
  .extend(
    'openWindow',
    { scope: 'file' },
    ({ chromium, pictures }) =>
      (device: Device) =>
        openConsoleWindow(chromium, device, pictures),
  )
  .extend(
    'signIn',
    { scope: 'file' },
    ({ installation, openWindow }) =>
      async (person: Person, device: Device, address = '/console', heading = 'Data') => {
        const window = await openWindow(device);
        await window.page.goto(`${installation.url}${address}`);
        await signInOn(window.page, person);
        await window.heading(heading);
        return window;
      },
  )
  .extend('openOn', { scope: 'file' }, ({ openWindow }) => openWindow)
  .extend('windowOn', { scope: 'file' }, ({ openOn }) => oncePerDevice(openOn))
  .extend('device', { size: DESKTOP, options: DESKTOP_OPTIONS } as Device)
  .extend('window', ({ device, windowOn }) => windowOn(device));
