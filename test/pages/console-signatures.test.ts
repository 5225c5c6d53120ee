import { expect } from 'vitest';
import { PASSWORD } from '../../testing/http/people.ts';
import { CONSOLE_SIZES, type Device, describeInChromium, lookAt } from '../engines/chromium.ts';
import { signInOn } from '../engines/console.ts';
import { setUpCodes } from '../engines/second-factor.ts';
import { accountOf } from '../engines/signers.ts';
import { batches } from '../toy/batches.ts';
import { test as base } from './console-window.ts';

/** A person signs a command of the console on a page of their account, and finds the signature in the history. */
const test = base
  .extend('installationOptions', { scope: 'file' }, { of: { domain: batches } })
  .extend('pictures', { scope: 'file' }, 'console-signatures')
  /** Signs a new person in, with a code, and opens a batch of theirs. */
  .extend(
    'openBatch',
    { scope: 'file' },
    ({ create, installation, openWindow, people, session }) =>
      async (device: Device) => {
        const somebody = await people.signUp('Mia Maker');
        await session.write('PATCH', `/users/${somebody.userId}`, {
          ...{ token: people.administrator.token, type: 'application/merge-patch+json' },
          body: { role: 'maker' },
        });
        const maker = await people.signIn(somebody, 'maker');
        const batch = await create('/batches', maker, { product: 'Aspirin', note: null });
        const app = await setUpCodes(await accountOf(installation, maker));
        const window = await openWindow(device);
        await window.page.goto(`${installation.url}/console/data/batches/${batch}`);
        await signInOn(window.page, maker);
        await window.fill('Code', app.next());
        await window.press('Sign in');
        await window.page.getByRole('link', { name: 'Release', exact: true }).waitFor();
        return { ...window, app, batch };
      },
  );

describeInChromium('signatures in the console', () => {
  test.for(CONSOLE_SIZES)(
    'are asked for beside the page on a %s, and shown',
    async ([size, options], { installation, openBatch }) => {
      const { context, page, fill, heading, look, press, app, batch } = await openBatch({ size, options });
      await page.getByRole('link', { name: 'Release', exact: true }).click();
      await fill('Verdict', 'pass');
      await press('Release');
      await page.getByRole('heading', { name: 'Your signature' }).waitFor();
      await look('asked');
      const [signing] = await Promise.all([
        context.waitForEvent('page'),
        page.getByRole('button', { name: 'Sign', exact: true }).click(),
      ]);
      await signing.getByRole('heading', { level: 1, name: 'Sign' }).waitFor();
      await signing.getByText('approval').waitFor();
      await lookAt(signing, `console-signatures-${size}-page`);
      await signing.getByLabel('Password').fill(PASSWORD);
      await signing.getByLabel('Code').fill(app.next());
      await signing.getByRole('button', { name: 'Sign with password and code' }).click();
      await signing.getByRole('heading', { level: 1, name: 'Signed' }).waitFor();
      await lookAt(signing, `console-signatures-${size}-signed`);
      await signing.close();
      await page.bringToFront();
      // A browser without a window manager sends no focus.
      const again = page.getByRole('button', { name: 'I have signed' });
      if (await again.isVisible()) await again.click();
      await page.getByRole('heading', { name: 'Your signature' }).waitFor({ state: 'hidden' });
      await page.goto(`${installation.url}/console/items/batches/${batch}`);
      await heading(/Aspirin|batch/i);
      await page.getByText('Signed by').first().waitFor();
      expect(await page.getByText('approval').count()).toBeGreaterThan(0);
      await look('history');
    },
  );
});
