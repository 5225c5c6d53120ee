import { createHmac, randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { verifyWebhook } from './verify-webhook.ts';

const SECRET = `whsec_${randomBytes(24).toString('base64')}`;
const OTHER = `whsec_${randomBytes(24).toString('base64')}`;
const BODY = '{"id":"a","type":"claim.submitted","data":{"note":"Ünï"}}';
const ID = 'msg_1';

const signed = ({ secret = SECRET, at = new Date(), body = BODY } = {}) => ({
  'webhook-id': ID,
  'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
  'webhook-signature': new Webhook(secret).sign(ID, at, body),
});

test('a signature of the Standard Webhooks library is accepted', async () => {
  const event = JSON.parse(BODY);
  expect(await verifyWebhook(signed(), BODY, SECRET)).toEqual(event);
  expect(await verifyWebhook(new Headers(signed()), new TextEncoder().encode(BODY), SECRET)).toEqual(event);
  expect(await verifyWebhook(signed(), new TextEncoder().encode(BODY).buffer, [OTHER, SECRET])).toEqual(
    event,
  );
});

test('one of several signatures is enough', async () => {
  const headers = {
    ...signed(),
    'webhook-signature': `v2,x v1,!! ${signed({ secret: OTHER })['webhook-signature']} ${signed()['webhook-signature']}`,
  };
  expect(await verifyWebhook(headers, BODY, SECRET)).toMatchObject({ id: 'a' });
});

const old = new Date(Date.now() - 301_000);
const asymmetric = `v1a,${createHmac('sha256', 'x').update('x').digest('base64')}`;
test.each([
  ['another secret', signed({ secret: OTHER }), BODY, 'signature'],
  ['another body', signed(), BODY.replace('a', 'b'), 'signature'],
  ['another id', { ...signed(), 'webhook-id': 'msg_2' }, BODY, 'signature'],
  ['another kind of signature', { ...signed(), 'webhook-signature': asymmetric }, BODY, 'signature'],
  [
    'half a signature',
    { ...signed(), 'webhook-signature': signed()['webhook-signature'].slice(0, 20) },
    BODY,
    'signature',
  ],
  ['an old one', signed({ at: old }), BODY, 'time'],
  ['one from the future', signed({ at: new Date(Date.now() + 400_000) }), BODY, 'time'],
  ['a time that is none', { ...signed(), 'webhook-timestamp': '1e9' }, BODY, 'headers'],
  ['a body that is no JSON', signed({ body: 'x' }), 'x', 'body'],
  ['none at all', {}, BODY, 'headers'],
  ['a header twice', { ...signed(), 'webhook-id': [ID, ID] }, BODY, 'headers'],
])('%s is refused', async (_, headers, body, reason) => {
  await expect(verifyWebhook(headers, body, SECRET)).rejects.toMatchObject({
    name: 'WebhookRefused',
    reason,
  });
});

test('an invalid secret is our mistake, not the sender’s', async () => {
  await expect(verifyWebhook(signed(), BODY, '')).rejects.toThrow(TypeError);
});
