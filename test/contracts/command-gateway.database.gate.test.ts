// Over 200 lines, because both ways to the command role pass this one suite.

import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { describe, expect } from 'vitest';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { publishing } from '#domain/publishing.ts';
import { createSpentProofs } from '#edge/authenticate/spent-proofs.ts';
import { gatewayKey, signAssertion } from '#edge/command-gateway/assertion.ts';
import { createHttpGateway } from '#edge/command-gateway/http-gateway.ts';
import { createApp } from '#edge/http/app.ts';
import { listen } from '#edge/http/listen.ts';
import type { Version, WebhookId } from '#kernel/base/brands.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { type CommandGateway, CommandUnavailable } from '#shared/command-gateway/command-gateway.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import type { Caller } from '#shared/policy.ts';
import { internalRoutes } from '../../command/role.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { allEvents, as, by, type CommandSide, registerUser } from '../engines/command-side.ts';
import { POLICY } from '../engines/policy.ts';
import { test as base } from '../engines/processes.ts';
import { createTestClock } from '../engines/test-clock.ts';
import type { ArticleId } from '../publishing-ids.ts';
import { WEBHOOK_FORM } from '../webhook-form.ts';

/** Longer than a DNS lookup is cached, so that another one starts meanwhile. */
const LOOKED_UP_MS = 2_300;
const SENT_MEANWHILE = 10;
const key = gatewayKey(parseMasterKey(randomBytes(32).toString('base64')));

const DELETION = JSON.stringify({ command: { type: 'DeleteArticle', articleId: 4 }, requestId: 'r' });
type Post = (authorization: string, body?: string) => Promise<Response>;

/** The address of the internal listener. */
const test = base
  .extend('url', { scope: 'file' }, async ({ side }, { onCleanup }) => {
    const log = pino({ level: 'silent' });
    const spentProofs = createSpentProofs(side.pool);
    const routes = [
      internalRoutes({ domain: publishing, gateway: side, key, spentProofs, bodyBytesMax: 1_048_576, log }),
    ];
    const server = createServer(createApp({ log, metrics: createMetrics(), routes }));
    onCleanup(() => {
      server.close();
      server.closeAllConnections();
    });
    return listen(server, { port: 0, host: '127.0.0.1', setting: 'INTERNAL_PORT' });
  })
  .extend('to', { scope: 'file' }, ({ side, url }) => ({ side, url }))
  .extend(
    'post',
    { scope: 'file' },
    ({ url }): Post =>
      (authorization, body = DELETION) =>
        fetch(new URL('/commands', url), {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization },
          body,
        }),
  );

type To = { readonly side: CommandSide; readonly url: string };
const WAYS: readonly (readonly [string, (to: To) => CommandGateway])[] = [
  ['a direct call', ({ side }) => side],
  ['HTTP', ({ url }) => createHttpGateway({ clock: REAL_TIME, urls: [url], key, issuer: 'query' })],
];

const draft = {
  type: 'DraftArticle',
  title: 'On engines',
  body: 'x',
  tags: ['a'],
  cover: null,
  publish: true,
} as const;

describe.each(WAYS)('command gateway by %s', (_name, gateway) => {
  test('executes a command and returns id, version and cursor', async ({ side, to }) => {
    const author = await registerUser(side);
    const answer = await gateway(to).send(draft, by(as(author)));
    expect(answer).toEqual({
      id: expect.any(Number),
      version: 2,
      cursor: expect.stringMatching(/^[0-9a-f]{8}-/),
    });
  });

  test('passes on the caller, the request and the cause', async ({ side, to }) => {
    const author = await registerUser(side);
    const causationId = crypto.randomUUID() as never;
    const { id } = await gateway(to).send(draft, {
      ...by(as(author)),
      requestId: 'r-1',
      correlationId: 'c-1',
      causationId,
    });
    const event = (await allEvents(side)).find(({ stream }) => stream === `article-${id}`);
    expect(event?.metadata).toMatchObject({
      actor: `user:${author}`,
      client: 'test-client',
      request: 'r-1',
      correlation: 'c-1',
      causation: causationId,
    });
  });

  test('passes on the caller’s key and expected version', async ({ side, to }) => {
    const author = await registerUser(side);
    const context = by(as(author), { idempotencyKey: 'gateway' });
    const first = await gateway(to).send(draft, context);
    expect(await gateway(to).send(draft, context)).toEqual(first);
    const edit = { type: 'EditArticle', articleId: first.id as ArticleId, title: 'Two' } as const;
    await expect(gateway(to).send(edit, by(as(author), { ifVersion: 1 }))).rejects.toMatchObject({
      code: 'version_mismatch',
      details: { version: 2 },
    });
    expect((await gateway(to).send(edit, by(as(author), { ifVersion: 2 }))).version).toBe(3 as Version);
  });

  test('returns to the caller the secret that a command made, and records the request in the event', async ({
    side,
    to,
  }) => {
    const owner = await registerUser(side);
    const command = { type: 'RegisterWebhook', ...WEBHOOK_FORM } as const;
    const context = by(as(owner), { idempotencyKey: 'secret' });
    const answer = await gateway(to).send(command, context);
    expect(answer).toMatchObject({
      version: 1,
      secret: expect.stringMatching(/^whsec_/),
      withheld: expect.any(Array),
    });
    expect(await gateway(to).send(command, context)).toEqual(answer);
    const asked = by(as(owner), { idempotencyKey: 'test' });
    const test = await gateway(to).send({ type: 'TestWebhook', webhookId: answer.id as WebhookId }, asked);
    expect(test).toEqual({
      id: answer.id,
      version: 2,
      cursor: expect.any(String),
      eventId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(await gateway(to).send({ type: 'TestWebhook', webhookId: answer.id as WebhookId }, asked)).toEqual(
      test,
    );
  });

  test.for<[string, Caller, string, object]>([
    ['nobody', { kind: 'anonymous', policy: POLICY }, 'unauthenticated', {}],
    [
      'a token without the scope',
      as(7001, 'author', ['read:articles']),
      'insufficient_scope',
      { scope: 'write:articles' },
    ],
    ['a reader', as(7001, 'reader'), 'forbidden', {}],
  ])('refuses %s with the code and its details', async ([_who, caller, code, details], { to }) => {
    const refused = gateway(to).send(draft, by(caller));
    await expect(refused).rejects.toMatchObject({ name: 'Rejection', code, details });
  });
});

describe.each(WAYS)('a malformed command is refused by %s', (_name, gateway) => {
  const deletion = { type: 'DeleteArticle', articleId: 4 } as const;
  test.for<[string, unknown, object]>([
    ['a command with a field too many', { ...deletion, more: 1 }, {}],
    ['a command with a wrong id', { ...deletion, articleId: -1 }, {}],
    ['a title of nothing but spaces', { type: 'EditArticle', articleId: 4, title: '  ' }, {}],
    ["a command of the system's own", { type: 'DiscardDraft', articleId: 4 }, {}],
    ['a key that is too long', deletion, { idempotencyKey: 'x'.repeat(256) }],
    ['a correlation id with a space', deletion, { correlationId: 'a b' }],
    ['a version that is none', deletion, { ifVersion: 1.5 }],
  ])('%s', async ([_what, command, more], { to }) => {
    await expect(gateway(to).send(command as never, { ...by(as(7001)), ...more })).rejects.toMatchObject({
      name: 'Rejection',
      code: 'invalid_command',
    });
  });
});

describe('the internal listener', () => {
  const assertionFor = (sent: string) =>
    signAssertion(key, { caller: as(7001), issuer: 'query', body: sent });

  test.for<[string, (by: { post: Post; url: string }) => Promise<Response>, number]>([
    ['no assertion', ({ post }) => post(''), 401],
    [
      'an assertion for another body',
      async ({ post }) => post(`Bearer ${await assertionFor(`${DELETION} `)}`),
      401,
    ],
    ['another scheme', async ({ post }) => post(`Basic ${await assertionFor(DELETION)}`), 401],
    [
      'an unknown command',
      async ({ post }) =>
        post(
          `Bearer ${await assertionFor('{"command":{"type":"Drop"},"requestId":"r"}')}`,
          '{"command":{"type":"Drop"},"requestId":"r"}',
        ),
      422,
    ],
    [
      "a command of the system's own",
      async ({ post }) =>
        post(
          `Bearer ${await assertionFor('{"command":{"type":"DiscardDraft","articleId":1},"requestId":"r"}')}`,
          '{"command":{"type":"DiscardDraft","articleId":1},"requestId":"r"}',
        ),
      422,
    ],
    ['a body that is no JSON', async ({ post }) => post(`Bearer ${await assertionFor('{')}`, '{'), 400],
    [
      'a caller smuggled into the body',
      async ({ post }) =>
        post(
          `Bearer ${await assertionFor(`${DELETION.slice(0, -1)},"caller":{"kind":"system"}}`)}`,
          `${DELETION.slice(0, -1)},"caller":{"kind":"system"}}`,
        ),
      422,
    ],
    ['another method', ({ url }) => fetch(new URL('/commands', url)), 405],
  ])('refuses %s', async ([_what, ask, status], { post, url }) => {
    const response = await ask({ post, url });
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  });
});

test('a recorded command is refused when it is sent again', async ({ side, post }) => {
  const author = await registerUser(side);
  const sent: (readonly [string, string])[] = [];
  const recorder = createServer(async (request, response) => {
    const body = await text(request);
    sent.push([request.headers.authorization ?? '', body]);
    const taken = await post(...(sent.at(-1) as readonly [string, string]));
    response.writeHead(taken.status).end(await taken.text());
  });
  const recorderUrl = await listen(recorder, { port: 0, host: '127.0.0.1', setting: 'INTERNAL_PORT' });
  const gateway = createHttpGateway({ clock: REAL_TIME, urls: [recorderUrl], key, issuer: 'query' });
  expect(await gateway.send(draft, by(as(author)))).toMatchObject({ version: 2 });
  expect(await gateway.send(draft, by(as(author)))).toMatchObject({ version: 2 });
  for (const each of sent) expect((await post(...each)).status).toBe(401);
  recorder.close();
  recorder.closeAllConnections();
});

describe('the gateway over HTTP', () => {
  test('reports an unknown outcome if nobody answers', async () => {
    const gateway = createHttpGateway({
      clock: REAL_TIME,
      urls: ['http://127.0.0.1:1'],
      key,
      issuer: 'query',
    });
    await expect(
      gateway.send({ type: 'DeleteArticle', articleId: 4 as ArticleId }, by(as(7001))),
    ).rejects.toThrow(CommandUnavailable);
  });

  test('uses another replica if it cannot connect', async ({ side, url }) => {
    const author = await registerUser(side);
    const nobody = `http://127.0.0.1:${await freePort()}`;
    const gateway = createHttpGateway({
      clock: REAL_TIME,
      urls: [nobody, url, nobody],
      key,
      issuer: 'query',
    });
    for (let turn = 0; turn < 3; turn += 1)
      expect(await gateway.send(draft, by(as(author)))).toMatchObject({ version: 2 });
  });

  test('or if its name is unknown', async ({ side, url }) => {
    const author = await registerUser(side);
    const gateway = createHttpGateway({
      clock: REAL_TIME,
      urls: ['http://nobody.invalid:4100', url],
      key,
      issuer: 'query',
    });
    expect(await gateway.send(draft, by(as(author)))).toMatchObject({ version: 2 });
  });

  test('or if a replica is draining, which does the work itself if there is no other', async ({
    side,
    url,
  }) => {
    const author = await registerUser(side);
    const asked: unknown[] = [];
    const stopping = createServer(({ headers }, response) => {
      asked.push(headers['x-may-move']);
      if (headers['x-may-move'] === 'yes') response.writeHead(502).end('moved');
      else response.writeHead(404).end('{"code":"article_not_found"}');
    });
    const stoppingUrl = await listen(stopping, { port: 0, host: '127.0.0.1', setting: 'INTERNAL_PORT' });
    const two = createHttpGateway({ clock: REAL_TIME, urls: [stoppingUrl, url], key, issuer: 'query' });
    for (let turn = 0; turn < 3; turn += 1)
      expect(await two.send(draft, by(as(author)))).toMatchObject({ version: 2 });
    expect(asked).toEqual(['yes']);
    const one = createHttpGateway({ clock: REAL_TIME, urls: [stoppingUrl], key, issuer: 'query' });
    await expect(one.send(draft, by(as(author)))).rejects.toMatchObject({ code: 'article_not_found' });
    stopping.close();
    stopping.closeAllConnections();
  });

  test('distinguishes the replicas behind one name, and finds later ones', async ({ side, url }) => {
    const author = await registerUser(side);
    const asked: unknown[] = [];
    const stopping = createServer(({ headers }, response) => {
      asked.push(headers['x-may-move']);
      response.writeHead(502).end('moved');
    });
    // Two machines use the same port.
    const port = Number(new URL(url).port);
    await listen(stopping, { port, host: '127.0.0.2', setting: 'INTERNAL_PORT' });
    let addresses = ['127.0.0.2'];
    const clock = createTestClock();
    const lookup = async () => addresses.map((address) => ({ address, family: 4 }));
    const gateway = createHttpGateway({
      clock,
      urls: [`http://command.example:${port}`],
      key,
      issuer: 'query',
      lookup,
    });
    await expect(gateway.send(draft, by(as(author)))).rejects.toThrow(CommandUnavailable);
    expect(asked).toEqual([undefined]);
    addresses = ['127.0.0.2', '127.0.0.1'];
    await clock.advance(LOOKED_UP_MS);
    await until(
      () => gateway.send(draft, by(as(author))).catch(() => undefined),
      (sent) => sent !== undefined,
    );
    asked.length = 0;
    for (let turn = 0; turn < 3; turn += 1)
      expect(await gateway.send(draft, by(as(author)))).toMatchObject({ version: 2 });
    expect(asked.length).toBeLessThanOrEqual(1);
    stopping.close();
    stopping.closeAllConnections();
  });

  test('nothing fails while an address moves from one name and the lookup of another name is slow', async ({
    side,
    url,
  }) => {
    const author = await registerUser(side);
    const port = Number(new URL(url).port);
    let address = '127.0.0.1';
    let slow = Promise.withResolvers<void>();
    slow.resolve();
    const lookup = async (hostname: string) => {
      if (hostname === 'slow.example') await slow.promise;
      return [{ address: hostname === 'slow.example' ? '127.0.0.1' : address, family: 4 }];
    };
    const urls = [`http://command.example:${port}`, `http://slow.example:${port}`];
    const clock = createTestClock();
    const gateway = createHttpGateway({ clock, urls, key, issuer: 'query', lookup });
    await gateway.send(draft, by(as(author)));
    // The address disappears while the other lookup continues.
    slow = Promise.withResolvers();
    address = '127.0.0.9';
    await clock.advance(LOOKED_UP_MS);
    for (let sent = 0; sent < SENT_MEANWHILE; sent += 1)
      expect(await gateway.send(draft, by(as(author)))).toMatchObject({ version: 2 });
    slow.resolve();
  });

  test('and waits a moment for a replica that is starting', async () => {
    const port = await freePort();
    const gateway = createHttpGateway({
      clock: REAL_TIME,
      urls: [`http://127.0.0.1:${port}`],
      key,
      issuer: 'query',
    });
    const sent = gateway.send({ type: 'DeleteArticle', articleId: 4 as ArticleId }, by(as(7001)));
    sent.catch(() => {});
    const late = createServer(
      (_request, response) =>
        void response.writeHead(409).end('{"code":"too_late","title":"It is too late."}'),
    );
    await listen(late, { port, host: '127.0.0.1', setting: 'INTERNAL_PORT' });
    await expect(sent).rejects.toMatchObject({ code: 'too_late', message: 'It is too late.' });
    late.close();
    late.closeAllConnections();
  });

  test('and if the roles do not trust each other, which is not the caller’s fault', async ({ url }) => {
    const distrusted = createHttpGateway({
      clock: REAL_TIME,
      urls: [url],
      key: gatewayKey(parseMasterKey(randomBytes(32).toString('base64'))),
      issuer: 'query',
    });
    await expect(
      distrusted.send({ type: 'DeleteArticle', articleId: 4 as ArticleId }, by(as(7001))),
    ).rejects.toThrow(CommandUnavailable);
  });

  test('and if the answer is too late or missing', async () => {
    const odd = createServer((request, response) => {
      if (request.headers['x-request-id'] === 'odd') response.end('<html>');
    });
    const oddUrl = await listen(odd, { port: 0, host: '127.0.0.1', setting: 'INTERNAL_PORT' });
    const gateway = createHttpGateway({
      clock: REAL_TIME,
      urls: [oddUrl],
      key,
      issuer: 'query',
      timeoutMs: 100,
    });
    const command = { type: 'DeleteArticle', articleId: 4 as ArticleId } as const;
    await expect(gateway.send(command, by(as(7001)))).rejects.toThrow(CommandUnavailable);
    await expect(gateway.send(command, { ...by(as(7001)), requestId: 'odd' })).rejects.toThrow(
      CommandUnavailable,
    );
    odd.close();
    odd.closeAllConnections();
  });

  test('uses another replica after one that took a command and fell silent, but not for that command', async ({
    side,
    url,
  }) => {
    const author = await registerUser(side);
    const silent = createServer();
    const silentUrl = await listen(silent, { port: 0, host: '127.0.0.1', setting: 'INTERNAL_PORT' });
    const taken: unknown[] = [];
    silent.on('request', ({ headers }) => taken.push(headers['x-request-id']));
    const gateway = createHttpGateway({
      clock: REAL_TIME,
      urls: [silentUrl, url],
      key,
      issuer: 'query',
      timeoutMs: scaled(500),
    });
    await expect(gateway.send(draft, { ...by(as(author)), requestId: 'unanswered' })).rejects.toThrow(
      CommandUnavailable,
    );
    for (let turn = 0; turn < 3; turn += 1)
      expect(await gateway.send(draft, by(as(author)))).toMatchObject({ version: 2 });
    expect(taken).toEqual(['unanswered']);
    silent.close();
    silent.closeAllConnections();
  });
});
