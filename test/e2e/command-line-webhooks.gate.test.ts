import { expect } from 'vitest';
import { startWebhookSink } from '../../testing/http/webhook-sink.ts';
import { until } from '../../testing/until.ts';
import { test as base } from '../engines/terminal.ts';

/** An operator in a terminal finds out why deliveries fail, and redelivers them. */

type Listed = { readonly id: string; readonly state: string; readonly subject: string };

const test = base
  .extend(
    'installationOptions',
    { scope: 'file' },
    {
      settings: { WEBHOOK_RETRY_SCHEDULE: '0', REQUIRE_IF_MATCH: 'on' },
    },
  )
  .extend('sink', { scope: 'file' }, async ({ installation: _started }, { onCleanup }) => {
    const sink = await startWebhookSink();
    onCleanup(() => sink[Symbol.asyncDispose]());
    return sink;
  })
  .extend('webhookId', { scope: 'file' }, async ({ ada, ask, sink }) => {
    const body = { url: `${sink.url}/hook`, eventTypes: ['article.*'], description: 'The shop' };
    return ((await ask('POST', '/webhooks', { token: ada.token, body })).body as { id: number }).id;
  })
  /** A dead letter, because its receiver refuses it. */
  .extend(
    'makeDead',
    { scope: 'file' },
    ({ ada, ask, listed, sink, webhookId: _registered }) =>
      async (title: string): Promise<Listed> => {
        sink.behave((_received, response) => void response.writeHead(500).end('the shop is closed'));
        const article = { token: ada.token, body: { title, body: '', tags: [] } };
        const { id } = (await ask('POST', '/articles', article)).body as { id: number };
        const [dead] = await until(
          () => listed<Listed>('api', 'searchDeliveries', '--subject', `article-${id}`, '--state', 'dead'),
          (found) => found.length === 1,
          60_000,
        );
        sink.behave((_received, response) => void response.writeHead(204).end());
        return dead as Listed;
      },
  )
  .extend(
    'arrives',
    { scope: 'file' },
    ({ listed }) =>
      (subject: string) =>
        until(
          () => listed<Listed>('api', 'searchDeliveries', '--subject', subject),
          ([delivery]) => delivery?.state === 'delivered',
          60_000,
        ),
  );

test('a test event arrives, and a disabled webhook is enabled again', async ({ call, listed, webhookId }) => {
  expect((await call('api', 'disableWebhook', String(webhookId))).exit).toBe(0);
  await until(
    () => listed<{ id: number }>('webhooks', 'list', '--disabled'),
    (webhooks) => webhooks.some(({ id }) => id === webhookId),
  );
  expect((await call('api', 'enableWebhook', String(webhookId))).exit).toBe(0);
  const tested = await until(
    () => call('webhooks', 'test', String(webhookId)),
    ({ exit }) => exit === 0,
    60_000,
  );
  expect(tested.lines).toEqual(['The test event arrived: status 204.']);
});

test('a webhook is shown with its health, also in the list', async ({ call, webhookId }) => {
  await until(
    () => call('webhooks', 'show', String(webhookId)),
    ({ lines }) => lines[0] === `Webhook ${webhookId} healthy`,
  );
  const { lines } = await call('webhooks', 'list');
  expect(lines[0]).toMatch(/^ID +Health +Due +Dead +URL +Description$/);
  expect(lines.find((line) => line.startsWith(`${webhookId} `))).toMatch(
    /healthy +0 +\d+ +http:\S+\/hook +The shop$/,
  );
});

test('the reason of a failed delivery is found by the item, with request and answer', async ({
  call,
  makeDead,
}) => {
  const dead = await makeDead('On looms');
  const { lines } = await call('api', 'searchDeliveries', '--subject', dead.subject);
  expect(lines[1]).toContain(dead.id);
  expect(lines[1]).toContain('dead');
  const shown = (await call('deliveries', 'show', dead.id)).lines.join('\n');
  expect(shown).toContain(`Delivery ${dead.id} dead`);
  expect(shown).toMatch(/^Attempt 1 at \S+, \d+ ms: status 500/m);
  expect(shown).toContain(`  > webhook-id: ${dead.id}`);
  expect(shown).toContain('  the shop is closed');
  expect(shown).not.toMatch(/whsec_/);
});

test('one delivery is sent again', async ({ arrives, call, makeDead, sink, webhookId }) => {
  const dead = await makeDead('On cards');
  expect(await call('deliveries', 'resend', dead.id)).toMatchObject({
    exit: 0,
    lines: [`${dead.id} is sent again to webhook ${webhookId}, ${sink.url}/hook.`],
  });
  await arrives(dead.subject);
});

test('all failed deliveries of a period are sent again, after a confirmation', async ({
  arrives,
  call,
  makeDead,
  webhookId,
}) => {
  const dead = await makeDead('On numbers');
  const asked = await call('deliveries', 'resend-failed', '--since', '1h');
  expect(asked).toMatchObject({
    exit: 1,
    complaint: expect.stringMatching(
      /^Send \d+ failed deliver(?:y|ies) of 1 webhook again\? Add --yes to confirm\.$/,
    ),
  });
  const earlier = await call('deliveries', 'resend-failed', '--until', '1d', '--yes');
  expect(earlier).toMatchObject({ exit: 0, lines: [], complaint: 'There are no failed deliveries.' });
  const done = await call('deliveries', 'resend-failed', '--since', '1h', '--yes');
  expect(done).toMatchObject({
    exit: 0,
    lines: [
      expect.stringMatching(new RegExp(`^\\d+ deliver(?:y is|ies are) sent again to webhook ${webhookId}, `)),
    ],
  });
  await arrives(dead.subject);
});

test('the exit code reports a refused test event', async ({ call, sink, webhookId }) => {
  sink.behave((_received, response) => void response.writeHead(503).end());
  const refused = await call('webhooks', 'test', String(webhookId));
  expect(refused).toMatchObject({
    exit: 1,
    complaint: expect.stringContaining('The test event did not arrive: '),
  });
});

test.for<[readonly string[], number, string]>([
  [['webhooks', 'show', 'x'], 64, '<id> must be the id of a webhook'],
  [['webhooks', 'show', '7'], 1, 'webhook_not_found'],
  [['api', 'searchDeliveries', '--state', 'lost'], 1, '\n  --state: '],
  [['deliveries', 'show', '01985f3e-0000-7000-8000-000000000000'], 1, 'There is no delivery'],
])('%j is refused', async ([args, exit, complaint], { call }) => {
  expect(await call(...args)).toMatchObject({ exit, complaint: expect.stringContaining(complaint) });
});
