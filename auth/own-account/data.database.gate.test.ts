import { expect, test } from 'vitest';
import { password } from '../../test/engines/account-visit.ts';
import { openAccountFixture, openOwnAccount } from '../../test/engines/own-account.ts';

const accounts = openAccountFixture();

test('a person gets their data after typing the password, as a page or as JSON', async () => {
  const { person, account } = await accounts.signedIn();
  const page = await account.get('/account/data');
  expect(page.body).toContain('<h1>Your data</h1>');
  const wrong = await account.send(page, { format: 'html', password: 'something else' });
  expect([wrong.status, wrong.body.includes('This is not your password.')]).toEqual([422, true]);
  const shown = await account.send(page, { format: 'html', password });
  expect(shown.status).toBe(200);
  expect(shown.body).toContain(`<h1>Data about user ${person.userId}</h1>`);
  expect(shown.body).toContain(person.email);
  expect(shown.body).toContain('This export is complete.');
  expect(shown.body).not.toContain('<script');
  const json = await account.send(page, { format: 'json', password });
  expect(JSON.parse(json.body)).toMatchObject({ userId: person.userId, isComplete: true });
  const event = await accounts.visit.eventOf('account.data_exported', person.userId);
  expect(event).toMatchObject({
    data: { userId: person.userId, format: 'html' },
    metadata: { actor: `user:${person.userId}`, client: 'annals-account' },
  });
});

test('the form belongs to its person and its page, and needs a session', async () => {
  const { account } = await accounts.signedIn();
  const { account: other } = await accounts.signedIn();
  const page = await account.get('/account/data');
  const forged = await other.send(page, { format: 'json', password });
  expect([forged.status, forged.body.includes('isComplete')]).toEqual([403, false]);
  const unknown = await account.send(page, { format: 'pdf', password });
  expect(unknown.status).toBe(400);
  const nobody = await openOwnAccount(accounts.site).browser.get(`${accounts.site.url}/account/data`);
  expect(nobody.status).toBe(303);
});
