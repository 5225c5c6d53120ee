import { expect } from 'vitest';
import { anAddress } from '../../test/engines/account-visit.ts';
import { test as base } from '../../test/engines/accounts-fixture.ts';
import { as, by } from '../../test/engines/command-side.ts';
import { openOwnAccount, somebodyAt } from '../../test/engines/own-account.ts';
import { linkIn } from '../../test/engines/smtp-receiver.ts';
import { openHandBrowser } from '../../testing/http/browser-by-hand.ts';
import { until } from '../../testing/until.ts';

const refused = anAddress();
const test = base
  .extend('smtpOptions', { scope: 'file' }, { refuse: (address: string) => address === refused })
  .extend('siteOptions', { scope: 'file' }, { trustProxy: 1, signUp: 'off' })
  .extend(
    'changeBy',
    { scope: 'file' },
    ({ site }) =>
      (administrator: number, userId: number, email: string | null) =>
        site.gateway.send(
          { type: 'UpdateUser', userId: userId as never, email },
          by(as(administrator, 'admin')),
        ),
  );

test('a change of address by an administrator is mailed to both addresses', async ({
  changeBy,
  site,
  smtp,
}) => {
  const [root, person, email] = [await somebodyAt(site, 'admin'), await somebodyAt(site), anAddress()];
  await changeBy(root.userId, person.userId, email);
  expect((await smtp.mailTo(person.email)).subject).toBe('Your e-mail address was changed');
  expect((await smtp.mailTo(email)).subject).toBe('Your account now has this e-mail address');
  await changeBy(root.userId, person.userId, null);
  expect((await smtp.mailTo(email, 1)).subject).toBe('Your e-mail address was changed');
});

test('an address that the mail server refuses blocks no other mail', async ({ changeBy, site, smtp }) => {
  const [root, person, email] = [await somebodyAt(site, 'admin'), await somebodyAt(site), anAddress()];
  await changeBy(root.userId, person.userId, refused);
  await changeBy(root.userId, person.userId, email);
  expect((await smtp.mailTo(email)).subject).toBe('Your account now has this e-mail address');
  // Sent mail is deleted; the rest is retried.
  const waiting = `select array_agg(version || told_at order by version) as mail from auth.address_mail where user_id = $1 and attempts = 1`;
  await until(
    async () => (await site.pool.query<{ mail: string[] }>(waiting, [person.userId])).rows[0]?.mail,
    (mail) => String(mail) === '2new,3former',
  );
});

test('another spelling of the same address is mailed to nobody', async ({ changeBy, site, smtp }) => {
  const [root, person, email] = [await somebodyAt(site, 'admin'), await somebodyAt(site), anAddress()];
  await changeBy(root.userId, person.userId, person.email.toUpperCase());
  await changeBy(root.userId, person.userId, email);
  await smtp.mailTo(email);
  const former = () =>
    smtp.messages.filter(({ to }) => to.some((address) => address.toLowerCase() === person.email));
  await until(
    async () => former(),
    ({ length }) => length > 0,
  );
  expect(former().map(({ subject }) => subject)).toEqual(['Your e-mail address was changed']);
});

test('a password link that went to the former address becomes invalid', async ({ changeBy, site, smtp }) => {
  const [root, person, email] = [await somebodyAt(site, 'admin'), await somebodyAt(site), anAddress()];
  const account = openOwnAccount(site);
  await account.send(await account.get('/account/reset'), { email: person.email });
  const link = linkIn(await smtp.mailTo(person.email));
  await changeBy(root.userId, person.userId, email);
  const page = await until(
    () => openHandBrowser().get(link),
    ({ status }) => status === 410,
  );
  expect(page.status).toBe(410);
});
