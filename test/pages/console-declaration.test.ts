import { cp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { developRoutes } from '../../develop/routes.ts';
import { CONSOLE_SIZES, describeInChromium } from '../engines/chromium.ts';
import { care } from '../toy/care.ts';
import { test as base } from './console-window.ts';

/** Below this checkout, whose package the files import. */
const FOLDER = 'test-results/declaration';
const TEMPLATE = join(import.meta.dirname, '../../create/template/domain');

const developed = { ...care, develops: true } as const;
const { visit } = care.kinds;
if (visit === undefined) throw new Error('the domain of care has visits');
/** As after the restart, which another test waits for (`test/own-server/dev.long.test.ts`). */
const restarted = { ...developed, kinds: { ...care.kinds, invoice: { ...visit, name: 'invoice' } } };

const test = base
  .extend(
    'installationOptions',
    { scope: 'file' },
    {
      of: {
        domain: developed,
        routes: developRoutes({ files: [join(FOLDER, 'domain.ts')], domain: restarted }, undefined),
      },
    },
  )
  .extend('pictures', { scope: 'file' }, 'console-declaration')
  .extend(
    'openOn',
    { scope: 'file' },
    ({ operator, signIn }) =>
      (device) =>
        signIn(operator, device, '/console', 'Overview'),
  )
  .extend('written', async ({ task: _task }, { onCleanup }) => {
    const remove = () => rm(FOLDER, { recursive: true, force: true });
    await remove();
    await cp(TEMPLATE, FOLDER, { recursive: true });
    onCleanup(remove);
    return (name: string) => readFile(join(FOLDER, name), 'utf8');
  });

describeInChromium('the declaration in the console', () => {
  test.for(CONSOLE_SIZES)(
    'grows by choices on a %s, is refused with its reason, and is written',
    async ([size, options], { installation, windowOn, written }) => {
      const { page, heading, look, fill, press } = await windowOn({ size, options });
      await page.goto(`${installation.url}/console/declaration/new`);
      await heading('New aggregate');
      const file = page.getByRole('region', { name: 'The file' });
      await page.locator('#name').fill('note');
      await file.getByText('There is an aggregate note already').waitFor();
      await look('refused');
      await page.locator('#name').fill('invoice');
      await page.locator('#states').fill('draft, sent');
      await press('Add another field');
      await page.locator('#field-1-name').fill('total');
      await page.locator('#field-1-type').selectOption('integer');
      await page.locator('#field-1-max').fill('5000');
      await page.locator('#read-anyone').selectOption('sent');
      await file.getByText("states('draft', 'sent')").waitFor();
      await file.getByText('total: integer(0, 5_000),').waitFor();
      await file.getByText("read: { signedIn: 'own', anyone: 'sent' },").waitFor();
      await look('grown');
      await press('Write it');
      await page.waitForURL(`${installation.url}/console/data/visits`);
      await heading('Visits');
      expect(await written('invoice.ts')).toContain('total: integer(0, 5_000),');
      expect(await written('domain.ts')).toContain('[note, invoice]');

      await page.goto(`${installation.url}/console/declaration/field`);
      await heading('Add a field');
      await fill('Name', 'total');
      await page.locator('#kind').selectOption('invoice');
      await file.getByText('invoice has a field total already').waitFor();
      await page.locator('#kind').selectOption('note');
      await file.getByText('total: line(200).optional(),').waitFor();
      await look('field');
    },
  );
});
