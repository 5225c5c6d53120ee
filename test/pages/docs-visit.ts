import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { EXAMPLE_LOG } from '../../query/event-types/event-types.ts';
import { openApiRoutes } from '../../query/openapi/routes.ts';
import { docsRoutes } from '../../site/part.ts';
import { scaled } from '../../testing/load.ts';
import { launchChromium, watchShifts } from '../engines/chromium.ts';
import { type Served, serveRoutes } from '../serve.ts';

const OPTIONS = {
  domain: publishing,
  publicUrl: 'http://localhost:4000',
  issuerUrl: 'http://localhost:4000',
  requireIfMatch: false,
};
export const DEADLINE_MS = 60_000;

const serveDocs = (): Promise<Served> =>
  serveRoutes(openApiRoutes(OPTIONS, { identity: EXAMPLE_LOG }), docsRoutes(OPTIONS));

export const DESKTOP = { viewport: { width: 1280, height: 800 } };
export const PHONE = {
  viewport: { width: 390, height: 844 },
  isMobile: true,
  hasTouch: true,
  deviceScaleFactor: 2,
};
export const SIZES = [
  ['desktop', { ...DESKTOP, colorScheme: 'light' }],
  ['phone', { ...PHONE, colorScheme: 'dark' }],
] as const;

/** Only the documentation, in a browser, for the tests of one file. */
type DocsInChromium = {
  readonly url: string;
  readonly chromium: Browser;
  /** Allows no foreign resources, and no browser errors. */
  visit(options: BrowserContextOptions, look: (page: Page) => Promise<void>): Promise<void>;
};

/** Call it in the body of a describe. */
export const docsInChromium = (): DocsInChromium => {
  let chromium: Browser;
  let server: Served;
  beforeAll(async () => {
    server = await serveDocs();
    chromium = await launchChromium();
  });
  afterAll(async () => {
    await chromium?.close();
    await server?.[Symbol.asyncDispose]();
  });
  return {
    get url() {
      return server.url;
    },
    get chromium() {
      return chromium;
    },
    visit: (options, look) => visitDocs({ chromium, url: server.url }, options, look),
  };
};

const visitDocs = async (
  { chromium, url }: Pick<DocsInChromium, 'chromium' | 'url'>,
  options: BrowserContextOptions,
  look: (page: Page) => Promise<void>,
): Promise<void> => {
  const context = await chromium.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(scaled(DEADLINE_MS));
  await watchShifts(page);
  const complaints: string[] = [];
  const elsewhere: string[] = [];
  page.on(
    'console',
    (message) => void (['error', 'warning'].includes(message.type()) && complaints.push(message.text())),
  );
  page.on('pageerror', (error) => void complaints.push(String(error)));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== url && !request.url().startsWith('data:'))
      elsewhere.push(request.url());
  });
  await look(page);
  expect({ complaints, elsewhere }).toEqual({ complaints: [], elsewhere: [] });
  expect(await context.cookies()).toEqual([]);
  await context.close();
};
