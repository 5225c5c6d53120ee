import { execFileSync } from 'node:child_process';
import { describe, expect } from 'vitest';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import type { Delivery } from '#shared/rest/delivery.ts';
import { until } from '../../testing/until.ts';
import { type Example, startExample } from '../engines/example.ts';
import { sharedTest } from '../engines/installation-fixture.ts';

/** The receivers of docs/webhooks.md, with real deliveries. */

const DEADLINE_MS = 60_000;

const test = sharedTest
  .extend('write', { scope: 'file' }, ({ ada, session }) => async (path: string, body?: object) => {
    const made = await session.write('POST', path, { token: ada.token, ...(body && { body }) });
    expect(made.status, JSON.stringify(made.body)).toBeLessThan(300);
    return { id: made.written.id, secret: (made.body as { secret?: string }).secret ?? '' };
  })
  .extend('draft', { scope: 'file' }, ({ write }) => () => {
    return write('/articles', { title: 'On engines', body: '', tags: [], publish: false });
  })
  .extend('deliveriesOf', { scope: 'file' }, ({ ada, session }) => async (webhookId: number) => {
    const path = `/webhooks/${webhookId}/deliveries?limit=100`;
    return (await session.read<Delivery[]>(path, { token: ada.token })).body;
  })
  /** The ids of a webhook's deliveries, the earliest first. */
  .extend('deliveredTo', { scope: 'file' }, ({ deliveriesOf }) => async (webhookId: number) => {
    const delivered = (await deliveriesOf(webhookId)).filter(({ state }) => state === 'delivered');
    return delivered.map(({ id }) => id).toReversed();
  });

const untilPrinted = (example: Example, count: number) =>
  until(
    () => ({ printed: example.cursors(), complaints: example.complaints() }),
    ({ printed }) => printed.length >= count,
    DEADLINE_MS,
  );

const hasPython = (): boolean => {
  try {
    return execFileSync('python3', ['--version']).length > 0;
  } catch {
    console.warn('docs/examples/receive-webhook.py is not run, because there is no python3.');
    return false;
  }
};

const COMMANDS = [
  'node docs/examples/receive-webhook.js',
  'node docs/examples/receive-webhook-express.js',
  'node test/engines/serve-route-handler.ts docs/examples/receive-webhook-next.js',
  ...(hasPython() ? ['python3 docs/examples/receive-webhook.py'] : []),
];

describe.each(COMMANDS)('%s', (command) => {
  test('receives all deliveries, also those from before its start, and during a rotation of the secret', async ({
    ada,
    deliveredTo,
    deliveriesOf,
    draft,
    session,
    write,
  }) => {
    const port = await freePort();
    const start = (secret: string) => startExample(command, { WEBHOOK_SECRET: secret, PORT: String(port) });
    const webhook = await write('/webhooks', {
      url: `http://127.0.0.1:${port}/hooks`,
      eventTypes: ['article.*'],
    });
    await draft();
    await until(
      () => deliveriesOf(webhook.id),
      ([first]) => (first?.attempts ?? 0) > 0,
      DEADLINE_MS,
    );
    const printed: string[] = [];
    const receive = async (secret: string, change: () => Promise<unknown>) => {
      await using receiver = start(secret);
      await until(receiver.complaints, (text) => text.includes('listening'), DEADLINE_MS);
      await change();
      printed.push(...(await untilPrinted(receiver, 1)).printed);
      // Stopped before its answer, it would get the same delivery again.
      await until(
        () => deliveredTo(webhook.id),
        (ids) => ids.length === printed.length,
        DEADLINE_MS,
      );
    };
    await receive(webhook.secret, () => write(`/webhooks/${webhook.id}/redrive`, { retrying: true }));
    const rotated = await write(`/webhooks/${webhook.id}/rotate-secret`);
    expect(rotated.secret).not.toBe(webhook.secret);
    for (const secret of [webhook.secret, rotated.secret, `${webhook.secret} ${rotated.secret}`])
      await receive(secret, draft);
    expect(await deliveredTo(webhook.id)).toEqual(printed);
    await session.write('DELETE', `/webhooks/${webhook.id}`, { token: ada.token });
  });
});

test.for([
  'http://10.0.0.1/hooks',
  'http://0xa000001/hooks',
  'http://012.0.0.1/hooks',
  'http://[::ffff:10.0.0.1]/hooks',
  'http://[::7f00:1]/hooks',
  'http://169.254.169.254/latest/meta-data/',
  'http://168.63.129.16/',
])('a private address cannot be registered: %s', async (url, { ada, ask }) => {
  const body = { url, eventTypes: ['*'] };
  const refused = await ask('POST', '/webhooks', { token: ada.token, body });
  expect(refused).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '/url', detail: expect.stringMatching('not to a private one') }] },
  });
});
