// Over 200 lines, because it is one protocol: the single connection mode, from the token to the end of each
// operation.
import { describe, expect } from 'vitest';
import { type Followed, follow } from '../../testing/http/event-source.ts';
import type { TokenHolder } from '../../testing/http/people.ts';
import type { Reply } from '../../testing/http/rest-client.ts';
import { until } from '../../testing/until.ts';
import { sharedTest } from '../engines/installation-fixture.ts';

const headersOf = (token: string, by: TokenHolder | undefined): Record<string, string> => ({
  'x-graphql-event-stream-token': token,
  ...(by && { authorization: `Bearer ${by.token}` }),
});

/** The wire protocol, for clients other than graphql-sse. */
const test = sharedTest
  .extend('token', async ({ ask }) => String((await ask('PUT', '/graphql')).body))
  /** Requests with a token, by a user or anonymous. */
  .extend('requests', ({ ask, graphqlUrl, installation: { fetch } }, { onCleanup }) => {
    const open = new AsyncDisposableStack();
    onCleanup(() => open.disposeAsync());
    return {
      connect: async (token: string, by?: TokenHolder) =>
        open.use(await follow(graphqlUrl, { headers: headersOf(token, by), fetch })),
      send: (token: string, body: object, by?: TokenHolder) =>
        ask('POST', '/graphql', { headers: headersOf(token, by), body }),
      stop: (token: string, operationId: string, by?: TokenHolder) =>
        ask('DELETE', `/graphql?operationId=${operationId}`, { headers: headersOf(token, by) }),
    };
  });

const operation = (query: string, operationId: string, more: object = {}) => ({
  query,
  ...more,
  extensions: { operationId },
});
const seenBy = (stream: Followed) =>
  stream.messages.map(({ event, data }) => ({
    event,
    ...(JSON.parse(data) as { id: string; payload?: unknown }),
  }));
const codeOf = ({ body }: Reply) =>
  (body as { errors: { extensions: { code: string } }[] }).errors[0]?.extensions.code;

const PUBLISHED = 'subscription { articlePublished { type } }';
/** With this number, they are hardly all at one of two processes. */
const OTHERS = 20;

describe('the single connection mode', () => {
  test('issues a token, opens one stream with it, and sends the results of each operation under its id', async ({
    ada,
    ask,
    publishing,
    requests: { connect, send, stop },
  }) => {
    const reserved = await ask('PUT', '/graphql');
    expect([reserved.status, reserved.headers.get('content-type'), reserved.body]).toEqual([
      201,
      'text/plain; charset=utf-8',
      expect.stringMatching(/^[\w-]{32}$/),
    ]);
    const token = String(reserved.body);
    const stream = await connect(token, ada);
    expect((await connect(token, ada)).status).toBe(409);
    expect(await send(token, operation(PUBLISHED, 'all'), ada)).toMatchObject({ status: 202, body: '' });
    expect(await send(token, operation('{ me { name } }', 'me'), ada)).toMatchObject({ status: 202 });
    const [answer, complete] = await until(
      () => seenBy(stream),
      (seen) => seen.length >= 2,
    );
    expect(answer).toMatchObject({ event: 'next', id: 'me', payload: { data: { me: { name: 'Ada' } } } });
    expect(complete).toMatchObject({ event: 'complete', id: 'me' });
    await publishing.publish('T');
    const [, , change] = await until(
      () => seenBy(stream),
      (seen) => seen.length >= 3,
    );
    expect(change).toMatchObject({
      event: 'next',
      id: 'all',
      payload: { data: { articlePublished: { type: 'article.published' } } },
    });
    // Messages that belong to no operation.
    expect(stream.lastEventId()).toBe('');
    expect(await stop(token, 'all')).toMatchObject({ status: 404 });
  });

  test('serves an EventSource of a browser, with the token in the address, and stops operations on request', async ({
    ada,
    graphqlUrl,
    installation: { fetch },
    publishing,
    requests: { send, stop },
    token,
  }) => {
    await using stream = await follow(`${graphqlUrl}?token=${token}`, { fetch });
    expect((await send(token, operation(PUBLISHED, 'first'))).status).toBe(202);
    expect((await send(token, operation(PUBLISHED, 'second'), ada)).status).toBe(202);
    expect((await stop(token, 'first')).status).toBe(200);
    expect((await stop(token, 'first')).status).toBe(200);
    await publishing.publish('T');
    await until(
      () => seenBy(stream),
      (seen) => seen.length > 0,
    );
    expect((await send(token, operation('{ __typename }', 'last'))).status).toBe(202);
    const seen = await until(
      () => seenBy(stream),
      (all) => all.some(({ event }) => event === 'complete'),
    );
    expect(seen.map(({ id }) => id)).toEqual(['second', 'last', 'last']);
  });

  test('refuses invalid requests by status, like GraphQL over HTTP', async ({
    ada,
    ask,
    people,
    requests: { connect, send },
    token,
  }) => {
    expect(await send(token, operation(PUBLISHED, 'early'))).toMatchObject({ status: 404 });
    expect((await connect('of-my-own-making')).status).toBe(400);
    const looked = await ask('HEAD', `/graphql?token=${token}`, {
      headers: { accept: 'text/event-stream' },
    });
    expect([looked.status, looked.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    await connect(token, ada);
    const refused = async (body: object, by: TokenHolder | undefined = ada) => {
      const reply = await send(token, body, by);
      return [reply.status, codeOf(reply)];
    };
    expect(await refused({ query: PUBLISHED })).toEqual([400, 'malformed_request']);
    expect(await refused(operation('subscription { everything }', 'a'))).toEqual([400, 'invalid_document']);
    expect(await refused(operation('subscription { articlePublished(after: "x") { type } }', 'a'))).toEqual([
      400,
      'unknown_cursor',
    ]);
    expect(
      await refused(operation('mutation { deletePost(id: 1) }', 'a'), await people.signUp('Eve')),
    ).toEqual([404, 'not_found']);
    // A refused operation leaves its id free.
    expect((await send(token, operation(PUBLISHED, 'a'), ada)).status).toBe(202);
    expect(await refused(operation(PUBLISHED, 'a'))).toEqual([409, 'stream_conflict']);
    const more = Array.from({ length: 99 }, (_, index) =>
      send(token, operation(PUBLISHED, `more ${index}`), ada),
    );
    expect(new Set((await Promise.all(more)).map(({ status }) => status))).toEqual(new Set([202]));
    expect(await refused(operation(PUBLISHED, 'one more'))).toEqual([429, 'too_many_streams']);
    expect((await ask('DELETE', '/graphql')).status).toBe(400);
  });

  test('limits the operations of one client until it ends some', async ({
    ada,
    ask,
    installation,
    requests: { connect, send, stop },
    token,
  }) => {
    const wide = `${PUBLISHED} # ${'x'.repeat(8_000)}`;
    const sendAll = async (token: string) => {
      const replies: Reply[] = [];
      while (replies.at(-1)?.status !== 429 && replies.length < 100)
        replies.push(await send(token, operation(wide, String(replies.length)), ada));
      return replies;
    };
    const openOther = async () => {
      const own = String((await ask('PUT', '/graphql')).body);
      await connect(own, ada);
      return own;
    };
    const stream = await connect(token, ada);
    // Each process counts its own, and some of these are at the same one.
    const others = await Promise.all(
      Array.from({ length: installation.query.length === 1 ? 1 : OTHERS }, openOther),
    );
    const replies = await sendAll(token);
    expect([replies.length < 100, codeOf(replies.at(-1) as Reply)]).toEqual([true, 'too_many_streams']);
    const asked = await Promise.all(
      others.map(async (other) => ({ other, ...(await send(other, operation(wide, 'there'), ada)) })),
    );
    expect(new Set(asked.map(({ status }) => status))).toEqual(
      new Set(installation.query.length === 1 ? [429] : [429, 202]),
    );
    const other = asked.find(({ status }) => status === 429)?.other ?? '';
    expect((await stop(token, '0', ada)).status).toBe(200);
    expect((await send(other, operation(wide, 'there'), ada)).status).toBe(202);
    await stream.close();
    await until(
      async () => (await send(other, operation(wide, 'once more'), ada)).status,
      (status) => status === 202,
    );
  });

  test('ends an operation with a revoked token, and keeps the others', async ({
    ask,
    people,
    publishing,
    requests: { connect, send },
    token,
  }) => {
    const stream = await connect(token);
    const service = await people.registerService('author');
    const holder = await people.tokenOf(service);
    expect((await send(token, operation('subscription { changes { type } }', 'theirs'), holder)).status).toBe(
      202,
    );
    expect((await send(token, operation(PUBLISHED, 'anybody’s'))).status).toBe(202);
    const authorization = `Basic ${Buffer.from(`${service.clientId}:${encodeURIComponent(service.secret)}`).toString('base64')}`;
    const form = new URLSearchParams({ token: holder.token }).toString();
    const type = 'application/x-www-form-urlencoded';
    await ask('POST', '/revoke', { headers: { authorization }, body: form, type });
    const seen = await until(
      () => seenBy(stream).filter(({ id }) => id === 'theirs'),
      (some) => some.at(-1)?.event === 'complete',
      60_000,
    );
    expect(seen.at(-2)).toMatchObject({
      event: 'next',
      payload: { errors: [{ extensions: { code: 'invalid_token' } }] },
    });
    await publishing.publish('T');
    await until(
      () => seenBy(stream).map(({ id }) => id),
      (ids) => ids.includes('anybody’s'),
    );
  });
});
