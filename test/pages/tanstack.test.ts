import { readFileSync } from 'node:fs';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { createClient } from '../../client/client.ts';
import { expenses } from '../../examples/expenses/domain/domain.ts';
import { scaled } from '../../testing/load.ts';
import { describeInChromium, expectAccessible, expectFitting, picture, SIZES } from '../engines/chromium.ts';
import { signInOn } from '../engines/console.ts';
import { operate } from '../engines/installation.ts';
import { startRole } from '../engines/role-process.ts';
import { serveTanstackPage } from '../engines/tanstack-page.ts';
import { test as base } from './chromium-fixture.ts';

/** The page of docs/tanstack.md, while its connections break and the server is killed. */
const GUIDE = readFileSync(new URL('../../docs/tanstack.md', import.meta.url), 'utf8');
const DEADLINE_MS = scaled(60_000);
const MAIN = 'test/toy/example-main.ts';
const READY = 'Annals is ready.';
const eventually = <Value>(look: () => Promise<Value> | Value) => expect.poll(look, { timeout: DEADLINE_MS });

const test = base
  .extend(
    'installationOptions',
    { scope: 'file' },
    { ownProcess: true, of: { domain: expenses, main: MAIN } },
  )
  .extend('site', { scope: 'file' }, async ({ installation }, { onCleanup }) => {
    const site = await serveTanstackPage(installation.origin, 'claims-page');
    onCleanup(() => site[Symbol.asyncDispose]());
    // By the guide's command, except the address of the page.
    const command = /^npm run annals -- (client create .*)$/m.exec(GUIDE)?.[1] ?? '';
    const words = (command.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ''));
    const args = words.map((word) => word.replace('http://localhost:5173', site.url));
    await operate(args, installation.settings, expenses);
    return site;
  })
  .extend('eve', { scope: 'file' }, ({ people }) => people.signUp('Eve'))
  .extend('elsewhere', { scope: 'file' }, ({ eve, installation }) =>
    createClient<typeof expenses>({ url: installation.origin, token: eve.token }),
  )
  .extend('team', { scope: 'file' }, async ({ eve, installation, people }) => {
    const { token } = people.administrator;
    const administrator = createClient<typeof expenses>({ url: installation.origin, token });
    const form = { name: 'Field work', approverId: eve.userId, budget: 500_000 };
    return (await administrator.teams.create(form)).id;
  })
  .extend('options', {} as BrowserContextOptions)
  .extend('page', async ({ chromium, eve, onTestFinished, options, site, team: _listed }) => {
    const context = await chromium.newContext(options);
    onTestFinished(() => context.close());
    context.setDefaultTimeout(DEADLINE_MS);
    const page = await context.newPage();
    await page.goto(site.url);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await signInOn(page, eve);
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.getByText('Live', { exact: true }).waitFor();
    return page;
  });

const claim = (page: Page, purpose: string) => page.getByRole('listitem').filter({ hasText: purpose });
const addClaim = async (page: Page, purpose: string): Promise<void> => {
  await page.getByLabel('Purpose').fill(purpose);
  await page.getByRole('button', { name: 'Add claim' }).click();
};

describeInChromium('the page with TanStack DB in Chromium', () => {
  describe.each(SIZES)('on a %s', (size, options) => {
    test.override({ options });

    test('a claim is shown at once, and a refusal takes its change back', async ({
      chromium,
      elsewhere,
      page,
      team,
    }) => {
      const complaints: string[] = [];
      page.on('pageerror', (error) => void complaints.push(String(error)));
      const purpose = `Strasbourg by ${size}`;
      await addClaim(page, purpose);
      await claim(page, purpose).waitFor();
      await eventually(() => claim(page, purpose).getAttribute('aria-busy')).toBe('false');
      await claim(page, purpose).getByRole('button', { name: 'Submit' }).click();
      await eventually(() => page.getByRole('alert').textContent()).toBe('The claim has no items.');
      expect(await claim(page, purpose).textContent()).toContain('draft');
      const { id } = await elsewhere.claims.create({ teamId: team, purpose: `Elsewhere ${size}` });
      await claim(page, `Elsewhere ${size}`).waitFor();
      await picture(page, `tanstack-${size}`);
      await expectFitting(page);
      await expectAccessible(page, await (await chromium.newContext(options)).newPage());
      await elsewhere.claims.of(id).items.add({ spentOn: '2026-11-20', category: 'travel', amount: 7 });
      await claim(page, `Elsewhere ${size}`).getByRole('button', { name: 'Submit' }).click();
      await eventually(() => claim(page, `Elsewhere ${size}`).textContent()).toContain('submitted');
      await eventually(() => claim(page, `Elsewhere ${size}`).getAttribute('aria-busy')).toBe('false');
      expect((await elsewhere.claims.get(id)).status).toBe('submitted');
      expect(complaints).toEqual([]);
    });
  });

  test('it keeps its claims while the server is killed, and adds one of that time once', async ({
    elsewhere,
    installation,
    page,
    team,
  }) => {
    await addClaim(page, 'Before the kill');
    await eventually(() => claim(page, 'Before the kill').getAttribute('aria-busy')).toBe('false');
    await installation.query[0]?.kill('SIGKILL');
    await page.getByText('Connecting…').waitFor();
    await addClaim(page, 'Meanwhile');
    expect(await claim(page, 'Meanwhile').getAttribute('aria-busy')).toBe('true');
    expect(await claim(page, 'Before the kill').count()).toBe(1);
    const { port } = new URL(installation.origin);
    await using serving = startRole(MAIN, { ...installation.settings, PORT: port });
    await serving.logged(READY);
    await eventually(() => claim(page, 'Meanwhile').getAttribute('aria-busy')).toBe('false');
    await elsewhere.claims.create({ teamId: team, purpose: 'After the kill' });
    await claim(page, 'After the kill').waitFor();
    expect(await elsewhere.claims.list().take(100)).toSatisfy(
      (all: readonly { readonly purpose: string | null }[]) =>
        all.filter(({ purpose }) => purpose === 'Meanwhile').length === 1,
    );
  });
});
