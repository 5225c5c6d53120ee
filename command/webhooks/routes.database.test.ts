import { expect } from 'vitest';
import { make, test, type WriteApi } from '../../test/engines/write-api.ts';
import { WEBHOOK_FORM } from '../../test/webhook-form.ts';

const { enabled: _, ...FORM } = WEBHOOK_FORM;
const WEBHOOK = { ...FORM, description: 'The shop', headers: { 'X-Team': 'blue' } };
const webhook = async (api: WriteApi) => `/webhooks/${await make(api, '/webhooks', WEBHOOK)}`;
const SECRET = expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/);

test('the response to a registration shows the secret, also to a retry', async ({ api }) => {
  const registration = {
    body: { url: WEBHOOK.url, eventTypes: ['*'] },
    headers: { 'Idempotency-Key': 'one' },
  };
  const answer = await api.send('POST', '/webhooks', registration);
  expect(answer).toMatchObject({ status: 201, body: { version: 1, secret: SECRET } });
  expect(answer.headers.get('location')).toBe(`/webhooks/${answer.body.id}`);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect((await api.send('POST', '/webhooks', registration)).body).toEqual(answer.body);
});

test('the response to a registration lists the withheld types with reasons', async ({ api }) => {
  const lacking = { ...api.author, scope: 'manage:webhooks read:articles' };
  const registration = {
    by: lacking,
    body: { url: WEBHOOK.url, eventTypes: ['article.*', 'comment.edited'] },
  };
  const { status, body } = await api.send('POST', '/webhooks', registration);
  expect([status, body.withheld]).toEqual([
    201,
    [
      {
        eventType: 'comment.edited',
        scope: 'read:comments',
        reason: expect.stringContaining('lacked the scope read:comments'),
      },
    ],
  ]);
  const all = await api.send('POST', '/webhooks', {
    body: { url: WEBHOOK.url, eventTypes: ['article.*', 'comment.edited'] },
  });
  expect(all.body.withheld).toEqual([]);
  const reader = { by: api.reader, body: { url: WEBHOOK.url, eventTypes: ['article.drafted'] } };
  expect((await api.send('POST', '/webhooks', reader)).body.withheld).toMatchObject([
    { reason: expect.stringContaining('the role of the owner, reader') },
  ]);
  const rotated = await api.send('POST', `/webhooks/${all.body.id}/rotate-secret`);
  expect(rotated.body).not.toHaveProperty('withheld');
});

test('every write has its effect, and only a rotation shows a secret again', async ({ api }) => {
  const path = await webhook(api);
  const answers = [
    await api.send('PATCH', path, { body: { limits: { concurrency: 1 }, headers: { 'X-Team': null } } }),
    await api.send('PUT', path, { body: { ...WEBHOOK, description: null } }),
    await api.send('POST', `${path}/disable`),
    await api.send('POST', `${path}/disable`),
    await api.send('POST', `${path}/enable`),
    await api.send('POST', `${path}/rotate-secret`),
  ];
  expect(answers.map(({ status, body }) => [status, body.version, 'secret' in body])).toEqual([
    ...[2, 3, 4, 4, 5].map((version) => [200, version, false]),
    [200, 6, true],
  ]);
  expect(answers.at(-1)?.body.secret).toEqual(SECRET);
  expect((await api.send('DELETE', path)).status).toBe(204);
  expect(await api.send('POST', `${path}/enable`)).toMatchObject({
    status: 404,
    body: { code: 'webhook_deleted' },
  });
});

test('a private address is reported as an invalid field', async ({ api }) => {
  const errors = [{ pointer: '/url', detail: expect.stringContaining('public address') }];
  const refused = { status: 422, body: { code: 'invalid_request', errors } };
  expect(
    await api.send('POST', '/webhooks', { body: { ...WEBHOOK, url: 'http://169.254.169.254/latest' } }),
  ).toMatchObject(refused);
  expect(await api.send('PATCH', await webhook(api), { body: { url: 'http://2130706433/' } })).toMatchObject(
    refused,
  );
});
