import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Followed, follow } from '../../testing/http/event-source.ts';
import { type Reply, restClientOf } from '../../testing/http/rest-client.ts';
import { openPeople, type People, type TokenHolder } from '../../testing/people.ts';
import { until } from '../../testing/until.ts';
import { type Installation, shareInstallation } from '../engines/installation.ts';

/** The wire protocol, for clients other than graphql-sse. */
let installation: Installation;
let people: People;
let ada: TokenHolder;
const open: Followed[] = [];
beforeAll(async () => {
  installation = await shareInstallation();
  people = await openPeople(installation);
  ada = await people.signUp('Ada');
});
afterAll(async () => {
  await Promise.all(open.map((stream) => stream.close()));
  await installation?.[Symbol.asyncDispose]();
});

const reserve = (): Promise<Reply> => restClientOf(installation)('PUT', '/graphql');
const headersOf = (by: TokenHolder | undefined): Record<string, string> =>
  by ? { authorization: `Bearer ${by.token}` } : {};
const openStream = async (token: string, by?: TokenHolder): Promise<Followed> => {
  const headers = { 'x-graphql-event-stream-token': token, ...headersOf(by) };
  const stream = await follow(`${installation.url}/graphql`, { headers, fetch: installation.fetch });
  open.push(stream);
  return stream;
};
const send = (token: string, body: object, by?: TokenHolder): Promise<Reply> =>
  restClientOf(installation)('POST', '/graphql', {
    headers: { 'x-graphql-event-stream-token': token, ...headersOf(by) },
    body,
  });
const operation = (query: string, operationId: string, more: object = {}) => ({
  query,
  ...more,
  extensions: { operationId },
});
const stop = (token: string, operationId: string, by?: TokenHolder): Promise<Reply> =>
  restClientOf(installation)('DELETE', `/graphql?operationId=${operationId}`, {
    headers: { 'x-graphql-event-stream-token': token, ...headersOf(by) },
  });
const publish = async (): Promise<void> => {
  const sent = { token: ada.token, body: { title: 'T', body: '', tags: [], publish: true } };
  await restClientOf(installation)('POST', '/articles', sent);
};
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
  test('issues a token, opens one stream with it, and sends the results of each operation under its id', async () => {
    const reserved = await reserve();
    expect([reserved.status, reserved.headers.get('content-type'), reserved.body]).toEqual([
      201,
      'text/plain; charset=utf-8',
      expect.stringMatching(/^[\w-]{32}$/),
    ]);
    const token = String(reserved.body);
    await using stream = await openStream(token, ada);
    expect((await openStream(token, ada)).status).toBe(409);
    expect(await send(token, operation(PUBLISHED, 'all'), ada)).toMatchObject({ status: 202, body: '' });
    expect(await send(token, operation('{ me { name } }', 'me'), ada)).toMatchObject({ status: 202 });
    const [answer, complete] = await until(
      () => seenBy(stream),
      (seen) => seen.length >= 2,
    );
    expect(answer).toMatchObject({ event: 'next', id: 'me', payload: { data: { me: { name: 'Ada' } } } });
    expect(complete).toMatchObject({ event: 'complete', id: 'me' });
    await publish();
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

  test('serves an EventSource of a browser, with the token in the address, and stops operations on request', async () => {
    const token = String((await reserve()).body);
    const stream = await follow(`${installation.url}/graphql?token=${token}`, { fetch: installation.fetch });
    open.push(stream);
    expect((await send(token, operation(PUBLISHED, 'first'))).status).toBe(202);
    expect((await send(token, operation(PUBLISHED, 'second'), ada)).status).toBe(202);
    expect((await stop(token, 'first')).status).toBe(200);
    expect((await stop(token, 'first')).status).toBe(200);
    await publish();
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

  test('refuses invalid requests by status, like GraphQL over HTTP', async () => {
    const token = String((await reserve()).body);
    expect(await send(token, operation(PUBLISHED, 'early'))).toMatchObject({ status: 404 });
    expect((await openStream('of-my-own-making')).status).toBe(400);
    const looked = await restClientOf(installation)('HEAD', `/graphql?token=${token}`, {
      headers: { accept: 'text/event-stream' },
    });
    expect([looked.status, looked.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    await openStream(token, ada);
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
    expect((await restClientOf(installation)('DELETE', '/graphql')).status).toBe(400);
  });

  test('limits the operations of one client until it ends some', async () => {
    const wide = `${PUBLISHED} # ${'x'.repeat(8_000)}`;
    const sendAll = async (token: string) => {
      const replies: Reply[] = [];
      while (replies.at(-1)?.status !== 429 && replies.length < 100)
        replies.push(await send(token, operation(wide, String(replies.length)), ada));
      return replies;
    };
    const openOther = async () => {
      const own = String((await reserve()).body);
      await openStream(own, ada);
      return own;
    };
    const token = String((await reserve()).body);
    const stream = await openStream(token, ada);
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

  test('ends an operation with a revoked token, and keeps the others', async () => {
    const token = String((await reserve()).body);
    const stream = await openStream(token);
    const service = await people.registerService('author');
    const holder = await people.tokenOf(service);
    expect((await send(token, operation('subscription { changes { type } }', 'theirs'), holder)).status).toBe(
      202,
    );
    expect((await send(token, operation(PUBLISHED, 'anybody’s'))).status).toBe(202);
    const authorization = `Basic ${Buffer.from(`${service.clientId}:${encodeURIComponent(service.secret)}`).toString('base64')}`;
    const form = new URLSearchParams({ token: holder.token }).toString();
    const type = 'application/x-www-form-urlencoded';
    await restClientOf(installation)('POST', '/revoke', { headers: { authorization }, body: form, type });
    const seen = await until(
      () => seenBy(stream).filter(({ id }) => id === 'theirs'),
      (some) => some.at(-1)?.event === 'complete',
      60_000,
    );
    expect(seen.at(-2)).toMatchObject({
      event: 'next',
      payload: { errors: [{ extensions: { code: 'invalid_token' } }] },
    });
    await publish();
    await until(
      () => seenBy(stream).map(({ id }) => id),
      (ids) => ids.includes('anybody’s'),
    );
  });
});
