import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { until } from '../../testing/until.ts';
import { describeInChromium } from '../engines/chromium.ts';
import { audited } from '../toy/audited.ts';
import { dayIn } from '../toy/auditors-fixture.ts';
import { test as base } from './console-window.ts';

const test = base
  .extend('pictures', { scope: 'file' }, 'console-auditors')
  .extend('installationOptions', { scope: 'file' }, { of: { domain: audited } })
  .extend('alan', { scope: 'file' }, ({ people }) => people.signUp('Alan'))
  .extend(
    'openOn',
    { scope: 'file' },
    ({ operator, signIn }) =>
      (device) =>
        signIn(operator, device, '/console/users', 'Accounts'),
  );

describeInChromium('auditors in the console', () => {
  test('are invited and appointed up to a day, and their reads are shown', async ({
    alan,
    create,
    installation,
    operator,
    people,
    session,
    window: { page, heading, press, look },
  }) => {
    const lastDay = dayIn(30);
    const guest = `${randomUUID().slice(0, 8)}@example.com`;
    const invitation = page.locator('section', { has: page.getByRole('heading', { name: 'Invitations' }) });
    await invitation.getByLabel('E-mail address').fill(guest);
    await invitation.getByLabel('Role').selectOption('auditor');
    await invitation.getByLabel('Last day').fill(lastDay);
    await press('Invite');
    await page.getByText(`${guest} is invited.`).waitFor();
    await look('invited');

    await page.goto(`${installation.url}/console/users/${alan.userId}`);
    await heading('Alan');
    await press('Make auditor');
    await page.getByRole('dialog').getByLabel('Last day').fill(lastDay);
    await look('appointing');
    await press('Set the last day');
    await page.getByText(lastDay, { exact: true }).waitFor();

    const file = await create('/files', operator, { title: 'Case' });
    const bill = await create(`/files/${file}/bills`, operator, { amount: 12 });
    const { token } = await people.signIn(alan, 'auditor');
    const read = () => session.read<{ readonly amount: number }>(`/bills/${bill}`, { token });
    expect((await until(read, ({ status }) => status === 200)).body.amount).toBe(12);

    await page.goto(`${installation.url}/console/data/bills/${bill}`);
    await page.getByText('Who has seen this').click();
    await page.getByRole('main').getByText('Alan', { exact: true }).waitFor();
    await look('readers');
    await page.goto(`${installation.url}/console/users/${alan.userId}`);
    await heading('Alan');
    await page.getByText('What they have read').click();
    await page.getByRole('link', { name: `Bill ${bill}` }).waitFor();
    await look('reads');
  });
});
