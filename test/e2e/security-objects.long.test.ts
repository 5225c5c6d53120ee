import { describe, expect } from 'vitest';
import { streamOf } from '../../testing/graphql/graphql-stream.ts';
import { follow } from '../../testing/http/event-source.ts';
import type { Ask, Reply } from '../../testing/http/rest-client.ts';
import { until } from '../../testing/until.ts';
import type { Installation } from '../engines/installation.ts';
import { sharedTest } from '../engines/installation-fixture.ts';
import { MASS_ASSIGNMENTS } from '../security/mass-assignments.ts';
import { PRIVATE_READS } from '../security/private-reads.ts';
import { CANARY, makePrivateThings, type PrivateThings } from '../security/private-things.ts';

/** Private data reaches nobody else on any path, and nobody can set fields that are not theirs. */

const textOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body));

const test = sharedTest
  .extend('things', { scope: 'file' }, ({ installation, sink }) => makePrivateThings(installation, sink))
  .extend('leaked', { scope: 'file' }, ({ things }) => (text: string): readonly string[] => {
    return things.secrets.filter((secret) => text.includes(secret));
  })
  .extend(
    'read',
    { scope: 'file' },
    ({ ask, things }) =>
      ({ path, ...sent }: { readonly path: string } & Ask, token: string | undefined): Promise<Reply> =>
        ask(sent.body === undefined ? 'GET' : 'POST', path, {
          ...sent,
          token,
          headers: { ...sent.headers, 'consistency-token': things.end },
        }),
  )
  .extend('state', { scope: 'file' }, ({ read, things }) => async () => {
    const { owner, draft, comment, webhook } = things;
    const paths = [
      '/me',
      `/users/${owner.userId}/articles`,
      `/articles/${draft}`,
      `/comments/${comment}`,
      '/webhooks',
      `/webhooks/${webhook}`,
    ];
    const bodies = await Promise.all(paths.map(async (path) => (await read({ path }, owner.token)).body));
    // The attempts to deliver go on meanwhile.
    return JSON.parse(JSON.stringify(bodies, (key, value) => (key === 'health' ? undefined : value)));
  });

describe('private data', () => {
  test.for(PRIVATE_READS)('%s', async ([_name, request], { leaked, read, things }) => {
    const own = await read(request(things), things.owner.token);
    expect(own.status).toBe(200);
    // The owner sees something there.
    expect(leaked(textOf(own.body))).not.toEqual([]);
    const etag = own.headers.get('etag');
    for (const token of [things.stranger.token, undefined]) {
      const { body } = await read(request(things), token);
      expect(leaked(textOf(body))).toEqual([]);
      if (etag === null) continue;
      // A 304 would reveal the content.
      const guessed = await read({ ...request(things), headers: { 'if-none-match': etag } }, token);
      expect(guessed.status).not.toBe(304);
    }
  });

  type Given = { readonly installation: Installation; readonly things: PrivateThings };

  const followFeed = ({ installation, things: { begin, stranger } }: Given) =>
    follow(`${installation.url}/events`, {
      headers: { authorization: `Bearer ${stranger.token}`, 'last-event-id': begin },
      fetch: installation.fetch,
    });
  const subscribe = ({ installation, things: { begin, stranger } }: Given) =>
    streamOf(
      installation,
      'subscription ($after: Cursor) { changes(after: $after) { cursor type subjectId article { id title } comment { text } user { email } webhook { id url } } }',
      { token: stranger.token, variables: { after: begin } },
    );

  test.for<[string, (given: Given) => ReturnType<typeof follow>]>([
    ['the feed', followFeed],
    ['the subscription to changes', subscribe],
  ])('%s, opened before it was created', async ([_name, open], { installation, leaked, things }) => {
    await using stream = await open({ installation, things });
    const received = () => stream.messages.map(({ data }) => data).join('\n');
    expect(leaked(await until(received, (text) => text.includes(things.end) || stream.isOver()))).toEqual([]);
    expect(received()).toContain(things.end);
  });
});

describe('fields that the sender must not set', () => {
  let before: readonly unknown[];
  test.beforeAll(async ({ state }) => {
    before = await state();
  });

  test.for(MASS_ASSIGNMENTS)('%s', async ([_name, refusal, request], { ask, things }) => {
    const { method, path, ...sent } = request(things);
    const { status, body } = await ask(method, path, { token: things.owner.token, ...sent });
    expect(typeof refusal === 'number' ? status : codeOf(body)).toBe(refusal);
  });

  test('and none of it has an effect', async ({ state }) => expect(await state()).toEqual(before));

  test('are ignored if a whole item is sent back', async ({ ask, read, state, things }) => {
    const { draft, owner, stranger } = things;
    const own = (await read({ path: `/articles/${draft}` }, owner.token)).body as object;
    const body = {
      ...own,
      id: 5,
      status: 'published',
      author: { id: stranger.userId },
      createdAt: '2020-01-01T00:00:00.000Z',
      _links: {},
    };
    expect(await ask('PUT', `/articles/${draft}`, { token: owner.token, body })).toMatchObject({
      status: 200,
    });
    expect(await state()).toEqual(before);
  });

  test('are ignored in the form of a token request', async ({ ask, installation, things }) => {
    const form = {
      grant_type: 'client_credentials',
      role: 'admin',
      sub: '1',
      client_id: 'other',
      aud: 'https://evil.example',
      user_id: '1',
    };
    const service = await things.people.registerService('reader');
    const authorization = `Basic ${btoa(`${service.clientId}:${encodeURIComponent(service.secret)}`)}`;
    const asked = { type: 'application/x-www-form-urlencoded', headers: { authorization } };
    const tokenOf = async (more: object) =>
      (await ask('POST', '/token', { ...asked, body: new URLSearchParams({ ...form, ...more }).toString() }))
        .body as {
        access_token: string;
      };
    const { access_token: token } = await until(
      () => tokenOf({ client_id: service.clientId }),
      ({ access_token }) => access_token !== undefined,
    );
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    expect(claims).toMatchObject({ role: 'reader', client_id: service.clientId, aud: installation.url });
    expect(claims.sub).not.toBe('1');
    // A client cannot authenticate as another.
    expect(await tokenOf({})).not.toHaveProperty('access_token');
  });
});

const codeOf = (body: unknown): string | undefined =>
  (body as { errors?: readonly { extensions: { code: string } }[] }).errors?.[0]?.extensions.code;

describe('an idempotency key', () => {
  const body = { title: CANARY, body: '', tags: [] };
  const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });

  test('of another user is independent', async ({ ask, things }) => {
    const own = await ask('POST', '/articles', { token: things.owner.token, body, ...keyed('article') });
    const again = await ask('POST', '/articles', { token: things.owner.token, body, ...keyed('article') });
    expect(again.body).toMatchObject({ id: (own.body as { id: number }).id });
    const other = await ask('POST', '/articles', { token: things.stranger.token, body, ...keyed('article') });
    expect(other.status).toBe(201);
    expect(other.body).not.toMatchObject({ id: (own.body as { id: number }).id });
  });

  test('does not reveal the secret of another user’s webhook', async ({ ask, things }) => {
    const hook = { url: 'http://127.0.0.1:9/', eventTypes: ['client.deleted'] };
    const query =
      'mutation ($input: WebhookInput!) { registerWebhook(input: $input) { secret webhook { id } } }';
    const secrets = await Promise.all(
      [things.owner.token, things.stranger.token].flatMap((token) => [
        ask('POST', '/webhooks', { token, body: hook, ...keyed('webhook-by-rest') }),
        ask('POST', '/graphql', {
          token,
          body: { query, variables: { input: hook } },
          ...keyed('webhook-by-graphql'),
        }),
      ]),
    );
    const shown = secrets.map(({ body: answer }) => /whsec_[A-Za-z0-9+/=]+/.exec(textOf(answer))?.[0]);
    expect(shown).not.toContain(undefined);
    expect(new Set(shown).size).toBe(4);
  });
});
