// Over 200 lines, because it is one thing: what an attempt sends, and what each answer means.
import { randomBytes, randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import type { EventId, Position, StreamName, UserId, Version, WebhookId } from '#kernel/base/brands.ts';
import { loadConfig } from '#process/load-config.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { POLICY } from '../../test/engines/policy.ts';
import { openRawServer } from '../../test/engines/raw-server.ts';
import type { ComposeBody } from './body.ts';
import type { Endpoint, Outgoing } from './delivery.ts';
import { openPoster } from './post.ts';
import { createSender } from './send.ts';

const { guard, retryDelaysMs } = loadConfig({}).webhooks;
const forever = new AbortController().signal;
const BODY = Buffer.from('{"type":"article.published"}');
const headers = { 'content-type': 'application/json' };
const composeBody: ComposeBody = async () => ({ kind: 'body', bytes: BODY, headers, shape: 'ids' });
const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const SECRET = newSecret();

/** Sends one delivery to a server with this response. */
const send = async (
  answer: string,
  { endpoint = {}, attempts = 0, compose = composeBody, clock = REAL_TIME }: Partial<Given> = {},
) => {
  await using receiver = await openRawServer((socket) => socket.end(answer));
  await using poster = openPoster({ rules: guard, timeoutMs: 10_000 });
  const sender = createSender({
    compose,
    poster,
    retryDelaysMs,
    random: () => 0.5,
    clock,
  });
  const result = await sender.send(outgoingTo(receiver.url, endpoint, attempts), forever);
  const [head = '', body = ''] = receiver.requests[0]?.split('\r\n\r\n') ?? [];
  const headers = Object.fromEntries(
    head
      .split('\r\n')
      .slice(1)
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );
  return { ...result, headers, body, requests: receiver.requests.length };
};

type Given = {
  readonly endpoint: Partial<Endpoint>;
  readonly attempts: number;
  readonly compose: ComposeBody;
  readonly clock: Pick<Clock, 'nowMs' | 'aheadMs'>;
};

const outgoingTo = (url: string, endpoint: Partial<Endpoint>, attempts: number): Outgoing => {
  const [webhookId, ownerId, eventId] = [6_001 as WebhookId, 7_001 as UserId, randomUUID() as EventId];
  const place = {
    position: 1 as Position,
    stream: 'article-8001' as StreamName,
    version: 1 as Version,
    at: new Date().toISOString(),
  };
  const change = {
    ...place,
    id: eventId,
    type: 'article.published',
    schemaVersion: 1,
    data: {},
    right: 'article.read',
    resource: {},
    isParked: false,
    origin: null,
  } as const;
  return {
    delivery: { webhookId, eventId, change, attempts, shape: null },
    endpoint: {
      ...{
        webhookId,
        ownerId,
        scopes: new Set(),
        url,
        headers: {},
        secrets: [{ secret: SECRET, endsAtMs: null }],
        payload: 'thin',
        format: 'annals',
      },
      ...endpoint,
    },
    owner: { kind: 'user', policy: POLICY, userId: ownerId, role: 'author', scopes: new Set(), client: null },
  };
};

const answerOf = (status: number, ...headers: readonly string[]): string =>
  [`HTTP/1.1 ${status} Status`, ...headers, 'content-length: 0', '', ''].join('\r\n');

test('an independent library verifies the delivery', async () => {
  const { headers, body } = await send(answerOf(204));
  expect(new Webhook(SECRET).verify(body, headers)).toEqual({ type: 'article.published' });
  expect(() => new Webhook(SECRET).verify(body.replace('published', 'deleted'), headers)).toThrow(
    'No matching signature',
  );
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'Annals' });
});

test.each([0, 3 * 86_400_000])(
  'old secrets sign too until they expire, by a clock %i ms ahead',
  async (aheadMs) => {
    const nowMs = Date.now() + aheadMs;
    const clock = { nowMs: () => nowMs, aheadMs: () => aheadMs };
    const [former, ended] = [newSecret(), newSecret()];
    const secrets = [
      { secret: SECRET, endsAtMs: null },
      { secret: former, endsAtMs: nowMs + 1_000 },
      { secret: ended, endsAtMs: nowMs },
    ];
    const { headers, body } = await send(answerOf(204), { endpoint: { secrets }, clock });
    expect(headers['webhook-signature']?.split(' ').length).toBe(2);
    for (const secret of [SECRET, former]) new Webhook(secret).verify(body, headers);
    expect(() => new Webhook(ended).verify(body, headers)).toThrow('No matching signature');
  },
);

test('the owner’s headers are sent, and never replace ours', async () => {
  const extra = {
    'X-Team': 'blue',
    Authorization: 'Bearer abc',
    'Webhook-Id': 'forged',
    'User-Agent': 'forged',
  };
  const { headers, attempt } = await send(answerOf(204), { endpoint: { headers: extra } });
  expect(headers).toMatchObject({ 'x-team': 'blue', authorization: 'Bearer abc', 'user-agent': 'Annals' });
  expect(headers['webhook-id']).not.toBe('forged');
  expect(attempt?.requestHeaders).toMatchObject({
    'x-team': '********',
    authorization: '********',
    'user-agent': 'Annals',
  });
});

test('headers of a CloudEvent are ours, and a reason is not kept with the attempt', async () => {
  const ours = {
    'content-type': 'application/json',
    'ce-type': 'article.published',
    'ce-reason': 'As%20asked',
  };
  const { headers, attempt, body } = await send(answerOf(204), {
    compose: async () => ({ kind: 'body', bytes: BODY, headers: ours, shape: 'ids' }),
    endpoint: { headers: { 'CE-Type': 'forged', 'Ce-Team': 'blue' } },
  });
  expect(headers).toMatchObject({ ...ours, 'ce-team': 'blue' });
  expect(attempt?.requestHeaders).toMatchObject({
    ...{ 'ce-type': 'article.published', 'ce-reason': '********', 'ce-team': '********' },
  });
  new Webhook(SECRET).verify(body, headers);
});

test('an attempt is shown without secrets', async () => {
  const { headers, attempt } = await send(answerOf(500, 'set-cookie: session=1', 'x-reason: none'));
  expect(attempt).toMatchObject({
    status: 500,
    error: null,
    responseHeaders: { 'set-cookie': '********', 'x-reason': 'none' },
  });
  const shown = attempt?.requestHeaders['webhook-signature'] ?? '';
  expect(shown).toMatch(/^v1,[A-Za-z0-9+/]{8}…$/);
  expect(headers['webhook-signature']).toContain(shown.slice(0, -1));
});

const due = (seconds: number) => ({ state: 'due', retryInMs: Math.round(seconds * 1_000) });

test.each([
  [answerOf(200), { state: 'delivered' }, { kind: 'well' }],
  [answerOf(299), { state: 'delivered' }, { kind: 'well' }],
  [answerOf(302, 'location: /elsewhere'), due(5), { kind: 'failing' }],
  [answerOf(400), due(5), { kind: 'failing' }],
  [answerOf(404), due(5), { kind: 'failing' }],
  [answerOf(410), due(5), { kind: 'gone' }],
  [answerOf(500), due(5), { kind: 'failing' }],
  [answerOf(500, 'retry-after: 100'), due(110), { kind: 'failing' }],
  [answerOf(429), due(5), { kind: 'busy', pauseMs: 2_000 }],
  [answerOf(429, 'retry-after: 100'), due(110), { kind: 'busy', pauseMs: 100_000 }],
  [answerOf(502), due(5), { kind: 'busy', pauseMs: 2_000 }],
  [answerOf(503, 'retry-after: 1'), due(5), { kind: 'busy', pauseMs: 1_000 }],
  [answerOf(503, 'retry-after: 9999999'), due(1.1 * 86_400), { kind: 'busy', pauseMs: 86_400_000 }],
  [answerOf(504), due(5), { kind: 'busy', pauseMs: 2_000 }],
  ['nonsense', due(5), { kind: 'failing' }],
])('%j means: %j, %j', async (answer, outcome, health) => {
  expect(await send(answer)).toMatchObject({ shape: 'ids', outcome, health });
});

test('after the last attempt of the schedule it is a dead letter', async () => {
  expect(await send(answerOf(500), { attempts: 8 })).toMatchObject({ outcome: due(86_400) });
  expect(await send(answerOf(500), { attempts: 9 })).toMatchObject({ outcome: { state: 'dead' } });
  expect(await send(answerOf(200), { attempts: 9 })).toMatchObject({ outcome: { state: 'delivered' } });
});

test('content that the owner may no longer read is not sent', async () => {
  const result = await send(answerOf(200), { compose: async () => ({ kind: 'withheld' }) });
  expect(result).toMatchObject({
    attempt: null,
    outcome: { state: 'withheld' },
    health: { kind: 'unknown' },
    requests: 0,
  });
  const waiting = await send(answerOf(200), { compose: async () => ({ kind: 'waiting' }) });
  const outcome = { state: 'due', retryInMs: 30_000 };
  expect(waiting).toMatchObject({ attempt: null, outcome, health: { kind: 'unknown' }, requests: 0 });
});

test('an address that is no longer allowed counts as a failed attempt', async () => {
  const result = await send(answerOf(200), { endpoint: { url: 'http://10.0.0.1/' } });
  expect(result).toMatchObject({
    attempt: { status: null, error: expect.stringMatching('not allowed') },
    outcome: due(5),
    requests: 0,
  });
});
