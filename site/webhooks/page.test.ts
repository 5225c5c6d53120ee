import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { expect, test, vi } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { signatures } from '../../webhook-dispatcher/deliver/sign.ts';
import { textIn } from '../page/text-in.ts';
import { verificationPage } from './page.ts';

const blocks = async (): Promise<readonly string[]> => {
  const { body } = await verificationPage(publishing).content();
  return [...body.toString().matchAll(/<pre[^>]*><code>([\s\S]*?)<\/code><\/pre>/g)].map(([, text = '']) =>
    textIn(text),
  );
};

test('the dispatcher computes the signatures shown, and Standard Webhooks verifies them', async () => {
  const [secret = '', request = '', signed] = await blocks();
  const [head = '', body = ''] = request.split('\n\n');
  const headers = Object.fromEntries(head.split('\n').map((line) => line.split(': ')));
  const [id, timestamp, signature] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
    (name) => headers[name],
  );
  expect(signed).toBe(`${id}.${timestamp}.${body}`);
  expect(signature).toBe(
    signatures({ id, timestampSeconds: Number(timestamp), body: Buffer.from(body), secrets: [secret] }),
  );
  vi.useFakeTimers({ now: Number(timestamp) * 1_000 });
  try {
    expect(new Webhook(secret).verify(body, headers)).toMatchObject({ id, type: 'article.published' });
    expect(() => new Webhook(secret).verify(body.replace('8001', '8002'), headers)).toThrow();
  } finally {
    vi.useRealTimers();
  }
});

test.each(['receive-webhook.js', 'receive-webhook.py', 'receive-webhook.sh'])(
  '%s stands there as it is run',
  async (name) => {
    expect(await blocks()).toContain(
      readFileSync(new URL(`../../docs/examples/${name}`, import.meta.url), 'utf8'),
    );
    expect(readFileSync(new URL('../../test/receivers.engine.test.ts', import.meta.url), 'utf8')).toContain(
      `docs/examples/${name}`,
    );
  },
);
