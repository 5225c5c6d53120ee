import { createHmac, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { signatures } from './sign.ts';

const secretOf = (bytes: Uint8Array): string => `whsec_${Buffer.from(bytes).toString('base64')}`;

test('the signature equals the example of the specification', () => {
  const message = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestampSeconds: 1_614_265_330,
    body: Buffer.from('{"test": 2432232314}'),
    secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  };
  expect(signatures(message)).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

test('an independent library and a manual HMAC agree for any content', () => {
  const id = fc.stringMatching(/^[a-z0-9_-]{1,40}$/);
  const key = fc.uint8Array({ minLength: 24, maxLength: 64 });
  fc.assert(
    fc.property(id, key, fc.string({ unit: 'grapheme' }), (webhookId, bytes, body) => {
      const timestampSeconds = Math.floor(Date.now() / 1_000);
      const signature = signatures({
        id: webhookId,
        timestampSeconds,
        body: Buffer.from(body),
        secrets: [secretOf(bytes)],
      });
      const byHand = createHmac('sha256', bytes)
        .update(`${webhookId}.${timestampSeconds}.${body}`)
        .digest('base64');
      expect(signature).toBe(`v1,${byHand}`);
      expect(new Webhook(secretOf(bytes)).sign(webhookId, new Date(timestampSeconds * 1_000), body)).toBe(
        signature,
      );
    }),
  );
});

test('every secret signs, and a receiver with any of them accepts', () => {
  const secrets = [randomBytes(32), randomBytes(32), randomBytes(24)].map(secretOf);
  const timestampSeconds = Math.floor(Date.now() / 1_000);
  const body = '{"a":1}';
  const headers = {
    'webhook-id': 'x',
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures({ id: 'x', timestampSeconds, body: Buffer.from(body), secrets }),
  };
  for (const secret of secrets) expect(new Webhook(secret).verify(body, headers)).toEqual({ a: 1 });
  expect(() => new Webhook(secretOf(randomBytes(32))).verify(body, headers)).toThrow('No matching signature');
});
