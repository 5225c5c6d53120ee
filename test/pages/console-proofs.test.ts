import { readFile } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { checkFile } from '../../proof/tree/check-file.ts';
import { parseVerifierKey } from '../../proof/tree/note.ts';
import { until } from '../../testing/until.ts';
import { CONSOLE_SIZES, describeInChromium } from '../engines/chromium.ts';
import { signInOn } from '../engines/console.ts';
import { sharedConsoleTest } from './shared-console.ts';

const test = sharedConsoleTest
  .extend('pictures', { scope: 'file' }, 'console-proofs')
  .extend('article', { scope: 'file' }, async ({ ada, ask, create }) => {
    const article = await create('/articles', ada, { title: 'On proofs', body: 'Text', tags: [] });
    await ask('PATCH', `/articles/${article}`, { token: ada.token, body: { title: 'On proof' } });
    return article;
  })
  .extend('visit', ({ installation, operator, window: { page } }) => async (path: string) => {
    await page.goto(`${installation.url}${path}`);
    const heading = page.getByRole('heading', { level: 1 });
    await page.getByLabel('E-mail address').or(heading.first()).first().waitFor();
    if ((await page.getByLabel('E-mail address').count()) > 0) await signInOn(page, operator);
    await page.getByRole('navigation', { name: 'Sections' }).waitFor();
    await heading.waitFor();
  });

describeInChromium('the proofs of the console', () => {
  describe.each(CONSOLE_SIZES)('on a %s', (size, options) => {
    test.override('device', { size, options: { ...options, reducedMotion: 'reduce' } });

    test('an event and an item have a proof to download, which names what it shows', async ({
      article,
      ask,
      operator,
      visit,
      window: { page, look },
    }) => {
      const { body } = await ask('GET', '/audit/keys', {});
      const keys = (body as { readonly keys: readonly { readonly vkey: string }[] }).keys.flatMap(
        ({ vkey }) => parseVerifierKey(vkey) ?? [],
      );
      const proof = page.getByRole('button', { name: 'Download proof' });
      const proven = async (): Promise<string> => {
        const [download] = await Promise.all([page.waitForEvent('download'), proof.click()]);
        const { isProven, sentence } = checkFile(await readFile(await download.path(), 'utf8'), keys);
        expect(isProven, sentence).toBe(true);
        return sentence;
      };
      await visit(`/console/items/articles/${article}`);
      await page.getByText('all events of this item').waitFor();
      await until(
        async () => (await ask('GET', `/articles/${article}/proof`, { token: operator.token })).status,
        (status) => status === 200,
      );
      expect(await proven()).toMatch(
        new RegExp(`^article-${article}: \\d+ events, versions 1 to \\d+, in the log`),
      );
      await look('item-history-proof');
      await visit(`/console/data/articles/${article}`);
      await proof.waitFor();
      await look('item-proof');
      const [first] = (
        await ask('GET', `/events?subject=article-${article}&limit=1`, { token: operator.token })
      ).body as readonly [{ readonly id: string }];
      await visit(`/console/events/${first.id}`);
      expect(await proven()).toContain('has this event, in place');
      await look('event-proof');
    });
  });
});
