// Over 200 lines, because it is one protocol, with the client of graphql-ws, unmodified.
import { connect as connectTcp, createServer, type Socket } from 'node:net';
import { type Client, createClient } from 'graphql-ws';
import { describe, expect } from 'vitest';
import { WebSocket } from 'ws';
import { publishing as publishingDomain } from '#domain/publishing.ts';
import { describeProblem, type ProblemCode } from '#edge/http/problem.ts';
import { EVERY_PART } from '../../parts.ts';
import { streamOf } from '../../testing/graphql/graphql-stream.ts';
import { until } from '../../testing/until.ts';
import { test as installationTest } from '../engines/installation-fixture.ts';
import { basic } from '../engines/oauth.ts';
import { numbered, PUBLISHED, type Published } from '../engines/publishing.ts';

const PROTOCOL = 'graphql-transport-ws';

type Seen = { readonly data?: Published };

const test = installationTest
  .extend(
    'installationOptions',
    { scope: 'file' },
    {
      of: { domain: publishingDomain, parts: EVERY_PART },
      settings: {
        HEADERS_TIMEOUT_MS: '5000',
        CORS_ORIGINS: 'https://app.example',
      },
    },
  )
  .extend(
    'socketUrl',
    { scope: 'file' },
    ({ installation: { origin } }) => `${origin.replace('http', 'ws')}/graphql`,
  )
  .extend('clientOf', ({ socketUrl }, { onCleanup }) => {
    const clients: Client[] = [];
    onCleanup(() => {
      for (const client of clients) void client.dispose();
    });
    return (token: string | undefined, options: Partial<Parameters<typeof createClient>[0]> = {}) => {
      const client = createClient({
        url: socketUrl,
        webSocketImpl: WebSocket,
        retryAttempts: 0,
        ...(token !== undefined && { connectionParams: { Authorization: `Bearer ${token}` } }),
        ...options,
      });
      clients.push(client);
      return client;
    };
  })
  /** A socket that speaks what it is told, and what it got. */
  .extend('rawSocket', ({ socketUrl }, { onCleanup }) => {
    const open: WebSocket[] = [];
    onCleanup(() => {
      for (const socket of open) socket.terminate();
    });
    return (
      protocol: string | string[] = PROTOCOL,
      headers: Record<string, string> = {},
      url = socketUrl,
    ) => {
      const socket = new WebSocket(url, protocol, { headers });
      const messages: Record<string, unknown>[] = [];
      const closing: { code?: number; reason?: string; status?: number } = {};
      open.push(socket);
      socket.on('message', (data) => messages.push(JSON.parse(String(data)) as Record<string, unknown>));
      socket.on('close', (code, reason) => Object.assign(closing, { code, reason: String(reason) }));
      socket.on('error', () => {});
      socket.on('unexpected-response', (_request, response) => {
        closing.status = response.statusCode ?? 0;
        response.resume();
      });
      const say = (message: object) => socket.send(JSON.stringify(message));
      return {
        ...{ socket, messages, closing, say },
        opened: () =>
          until(
            () => socket.readyState,
            (state) => state === WebSocket.OPEN,
          ),
        types: (count: number) =>
          until(
            () => messages.filter(({ type }) => type !== 'ping').map(({ type }) => type),
            (types) => types.length >= count || closing.code !== undefined,
          ),
        closed: () =>
          until(
            () => closing.code ?? closing.status,
            (code) => code !== undefined,
          ),
      };
    };
  });

const one = async (client: Client, query: string, extensions?: Record<string, unknown>) => {
  for await (const result of client.iterate({ query, ...(extensions && { extensions }) })) return result;
  return undefined;
};

/** The end of a subscription: its close event, or its errors. */
const refusalOf = (client: Client, query: string): Promise<unknown> => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  client.subscribe({ query }, { next: () => {}, error: resolve, complete: () => resolve('complete') });
  return promise;
};

const codesOf = (errors: unknown) =>
  (errors as readonly { extensions: { code: string } }[]).map(({ extensions }) => extensions.code);

describe('the client of graphql-ws', () => {
  test('subscribes, queries and mutates with the rights of its token', async ({
    ada,
    clientOf,
    publishing,
  }) => {
    const client = clientOf(ada.token);
    const titles: string[] = [];
    const subscription = client.iterate<Published>({ query: PUBLISHED });
    const reading = (async () => {
      for await (const { data } of subscription) titles.push(data?.articlePublished.article.title ?? '');
    })();
    await publishing.untilReceived(titles, 'By socket');
    expect(await one(client, '{ me { name } }')).toMatchObject({
      data: { me: { name: 'Ada' } },
      extensions: { cost: { requestedQueryCost: 1 } },
    });
    const anonymous = clientOf(undefined);
    expect(await one(anonymous, '{ me { name } }')).toMatchObject({ data: { me: null } });
    const create = 'mutation { createPost(input: { title: "Once", body: "", publish: true }) { id } }';
    expect(await one(anonymous, create).catch(codesOf)).toEqual(['unauthenticated']);
    const twice = [
      await one(client, create, { idempotencyKey: 'of-a-socket' }),
      await one(client, create, { idempotencyKey: 'of-a-socket' }),
    ];
    expect(twice[0]?.data).toEqual(twice[1]?.data);
    await until(
      () => titles,
      (seen) => seen.includes('Once'),
    );
    expect(titles.filter((title) => title === 'Once')).toHaveLength(1);
    const failed = await one(client, 'mutation { publishPost(id: "1") { id } }');
    expect(codesOf(failed?.errors)).toEqual(['article_not_found']);
    await subscription.return?.();
    await reading;
  });

  test('gets the same events as a stream of server-sent events, each to those who may see it', async ({
    ada,
    clientOf,
    installation,
    people,
    publishing,
    rita,
    graphql,
  }) => {
    const after = await publishing.cursor();
    await publishing.publish('For all');
    await graphql('mutation { createPost(input: { title: "Draft", body: "" }) { id } }', {
      token: ada.token,
    });
    await publishing.publish(LAST);
    const queries = [
      PUBLISHED,
      'subscription ($after: Cursor) { changes(after: $after) { cursor type subjectId article { title status } } }',
    ];
    const tokens = [ada.token, rita.token, people.administrator.token, undefined];
    const counts: number[] = [];
    for (const query of queries)
      for (const token of tokens) {
        const [bySse, bySocket] = await Promise.all([
          resultsBySse(installation, { query, after, token }),
          resultsBySocket(clientOf(token), { query, after }),
        ]);
        expect([query, token, bySocket]).toEqual([query, token, bySse]);
        counts.push(bySse.results.length);
      }
    // All see what is published; the draft is seen by its author and the administrator; nobody else may ask.
    expect([counts[0], counts[3], counts[7]]).toEqual([2, 2, 0]);
    expect(counts[4]).toBeGreaterThan(counts[5] ?? 0);
  });

  test('resumes without a loss after its connection and the server’s side were cut', async ({
    ada,
    clientOf,
    publishing,
    socketUrl,
  }) => {
    await using proxy = await cuttingProxy(new URL(socketUrl));
    let cursor: string | undefined;
    const note = (given: unknown): void => {
      if (typeof given === 'string') cursor = given;
    };
    const client = clientOf(ada.token, {
      url: `ws://127.0.0.1:${proxy.port}/graphql`,
      retryAttempts: 1_000,
      retryWait: async () => {},
      shouldRetry: () => true,
      on: {
        ping: (received, payload) => received && note((payload as { cursor?: string } | undefined)?.cursor),
      },
    });
    const titles: string[] = [];
    // A getter: the client writes the message again for each connection.
    const payload = {
      query: PUBLISHED,
      get variables() {
        return { after: cursor };
      },
    };
    client.subscribe<Published>(payload, {
      next(result) {
        titles.push(result.data?.articlePublished.article.title ?? '');
        note((result.extensions as { cursor?: string }).cursor);
      },
      error: () => {},
      complete: () => {},
    });
    // The position from which it follows arrives before any change.
    await until(
      () => cursor,
      (given) => given !== undefined,
    );
    const next = numbered('Kept');
    const published: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      proxy.cut();
      for (let count = 0; count < 3; count += 1) {
        const title = next();
        published.push(title);
        await publishing.publish(title);
      }
    }
    await until(
      () => titles,
      (seen) => seen.at(-1) === published.at(-1),
    );
    expect(titles).toEqual(published);
    expect(proxy.connections()).toBeGreaterThan(1);
  });

  test('is closed with 4403 when its token is revoked, and refused with 4401 afterwards', async ({
    ask,
    clientOf,
    people,
  }) => {
    const service = await people.registerService('author');
    const holder = await people.tokenOf(service);
    const client = clientOf(holder.token);
    expect(await one(client, '{ me { id } }')).toMatchObject({ data: { me: {} } });
    const end = refusalOf(client, 'subscription { changes { type } }');
    await ask('POST', '/revoke', {
      headers: basic(service),
      body: new URLSearchParams({ token: holder.token }).toString(),
      type: 'application/x-www-form-urlencoded',
    });
    expect(await end).toMatchObject({ code: 4403, reason: expect.stringContaining('invalid_token') });
    expect(await refusalOf(clientOf(holder.token), PUBLISHED)).toMatchObject({ code: 4401 });
  });

  test('gets the refusals of its operations, and keeps the others', async ({ ada, clientOf }) => {
    const client = clientOf(ada.token);
    for (const [query, code] of [
      ['subscription {', 'malformed_document'],
      ['subscription { everything }', 'invalid_document'],
      ['subscription { articlePublished(after: "garbage") { type } }', 'unknown_cursor'],
      [`${PUBLISHED} # ${'x'.repeat(66_000)}`, 'subscription_too_large'],
      ['{ posts(limit: 100) { comments(limit: 100) { text } } }', 'too_costly'],
    ] as const)
      expect([query.slice(0, 40), codesOf(await refusalOf(client, query))]).toEqual([
        query.slice(0, 40),
        [code],
      ]);
    expect(await one(client, '{ me { name } }')).toMatchObject({ data: { me: { name: 'Ada' } } });
  });
});

describe('a connection', () => {
  test.for<[string, string | string[], Record<string, string>, number]>([
    ['of another protocol', 'graphql-ws', {}, 400],
    ['of a page of another origin', PROTOCOL, { origin: 'https://elsewhere.example' }, 403],
    ['with an invalid token', PROTOCOL, { authorization: 'Bearer made-up' }, 401],
  ])('%s is refused as a request', async ([_name, protocol, headers, status], { rawSocket }) => {
    expect(await rawSocket(protocol, headers).closed()).toBe(status);
  });

  test('with a token in its address is refused like any request', async ({ ada, rawSocket, socketUrl }) => {
    const url = `${socketUrl}?access_token=${ada.token}`;
    expect(await rawSocket(PROTOCOL, {}, url).closed()).toBe(400);
  });

  test('of an allowed page is accepted, with the token of its first request', async ({ ada, rawSocket }) => {
    const authorization = `Bearer ${ada.token}`;
    const raw = rawSocket([PROTOCOL, 'other'], { origin: 'https://app.example', authorization });
    await raw.opened();
    expect(raw.socket.protocol).toBe(PROTOCOL);
    raw.say({ type: 'connection_init' });
    raw.say({ type: 'ping' });
    expect(await raw.types(2)).toEqual(expect.arrayContaining(['connection_ack', 'pong']));
    raw.say({ id: 'a', type: 'subscribe', payload: { query: '{ me { name } }' } });
    expect(await raw.types(4)).toContain('complete');
    expect(raw.messages).toContainEqual(
      expect.objectContaining({
        id: 'a',
        payload: expect.objectContaining({ data: { me: { name: 'Ada' } } }),
      }),
    );
  });

  const INIT = { type: 'connection_init' };
  const FOLLOW = {
    id: 'a',
    type: 'subscribe',
    payload: { query: 'subscription { articlePublished { type } }' },
  };
  test.for<[string, number, readonly (object | string)[]]>([
    ['sends no message of the protocol', 4400, ['{']],
    ['sends a message of an unknown type', 4400, [{ type: 'start' }]],
    ['subscribes before it is acknowledged', 4401, [FOLLOW]],
    ['introduces itself twice', 4429, [INIT, INIT]],
    ['introduces itself with an invalid token', 4401, [{ ...INIT, payload: { authorization: 'Bearer no' } }]],
    ['says nothing', 4408, []],
  ])('that %s is closed with %i', async ([_name, code, messages], { rawSocket }) => {
    const raw = rawSocket();
    await raw.opened();
    for (const message of messages)
      raw.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
    expect(await raw.closed()).toBe(code);
  });

  test('is closed if two operations have one id, and limits their number', async ({ rawSocket }) => {
    const raw = rawSocket();
    await raw.opened();
    raw.say(INIT);
    await raw.types(1);
    for (let count = 0; count <= 100; count += 1) raw.say({ ...FOLLOW, id: String(count) });
    const [refused] = await until(
      () => raw.messages.filter(({ type }) => type === 'error'),
      (errors) => errors.length > 0,
    );
    expect(codesOf(refused?.payload)).toEqual(['too_many_streams']);
    raw.say({ id: '5', type: 'complete' });
    raw.say({ ...FOLLOW, id: '5' });
    raw.say({ ...FOLLOW, id: '6' });
    expect(await raw.closed()).toBe(4409);
  });

  test('with a message that is too large is closed', async ({ rawSocket }) => {
    const raw = rawSocket();
    await raw.opened();
    raw.say({ ...INIT, payload: { long: 'x'.repeat(2_000_000) } });
    expect(await raw.closed()).toBe(1009);
  });

  test('that reads too slowly is closed, and resumes after the last message that it has', async ({
    ada,
    graphql,
    installation,
    rawSocket,
  }) => {
    const { data } = await graphql<{ createPost: { id: string } }>(
      'mutation ($body: String!) { createPost(input: { title: "Slow 0", body: $body, publish: true }) { id } }',
      { token: ada.token, variables: { body: 'x'.repeat(LONG) } },
    );
    const bodies = Array.from({ length: 5 }, (_, index) => `b${index}: body`).join(' ');
    const query = `subscription ($after: Cursor) { articleChanged(id: ${data.createPost.id}, after: $after) { cursor article { title ${bodies} } } }`;
    const raw = rawSocket();
    await raw.opened();
    raw.say({ ...INIT, payload: { Authorization: `Bearer ${ada.token}` } });
    await raw.types(1);
    raw.say({ id: 'slow', type: 'subscribe', payload: { query } });
    await until(
      () => raw.messages,
      (seen) => seen.some(({ type }) => type === 'ping'),
    );
    raw.socket.pause();
    // More than the buffers of the system and ours can keep.
    for (let count = 1; count <= CHANGES; count += 1)
      await graphql(
        `mutation { updatePost(id: ${data.createPost.id}, changes: { title: "Slow ${count}" }) { id } }`,
        { token: ada.token },
      );
    raw.socket.resume();
    await raw.closed();
    expect(raw.closing).toMatchObject({ code: 4503, reason: expect.stringContaining('too_slow') });
    const received = raw.messages.filter(({ type }) => type === 'next');
    expect(received.length).toBeLessThan(CHANGES);
    const sent = received.map(
      ({ payload }) => (payload as { extensions: { cursor: string } }).extensions.cursor,
    );
    const cursor = sent.at(-1);
    const short = `subscription ($after: Cursor) { articleChanged(id: ${data.createPost.id}, after: $after) { cursor } }`;
    await using again = await streamOf(installation, short, {
      variables: { after: cursor },
      token: ada.token,
    });
    const rest = await again.results<{ articleChanged: { cursor: string } }>(CHANGES - received.length);
    const cursors = [...sent, ...rest.map((each) => each.data?.articleChanged.cursor)];
    expect([cursors.length, new Set(cursors).size]).toEqual([CHANGES, CHANGES]);
  });
});

const LONG = 100_000;
const CHANGES = 40;

type Asked = { readonly query: string; readonly after: string; readonly token?: string | undefined };
type Results = { readonly status: number; readonly results: readonly unknown[] };
const LAST = 'The last';

const isOver = (seen: readonly unknown[]): boolean => JSON.stringify(seen).includes(LAST);

const resultsBySse = async (
  installation: Parameters<typeof streamOf>[0],
  { query, after, token }: Asked,
): Promise<Results> => {
  await using stream = await streamOf(installation, query, { variables: { after }, token });
  if (stream.status !== 200) return { status: stream.status, results: [] };
  const results = await until(
    () => stream.messages.filter(({ event }) => event === 'next').map(({ data }) => JSON.parse(data) as Seen),
    isOver,
  );
  return { status: 200, results: results.map(({ data }) => data) };
};

const resultsBySocket = async (client: Client, { query, after }: Asked): Promise<Results> => {
  const results: unknown[] = [];
  const refused: { code?: string | undefined } = {};
  const stop = client.subscribe<Published>(
    { query, variables: { after } },
    {
      next: ({ data }) => results.push(data),
      error(errors) {
        [refused.code] = codesOf(errors);
      },
      complete: () => {},
    },
  );
  await until(
    () => results,
    (seen) => isOver(seen) || refused.code !== undefined,
  );
  stop();
  return {
    status: refused.code === undefined ? 200 : describeProblem(refused.code as ProblemCode).status,
    results,
  };
};

/** Passes bytes on, until it cuts all connections. */
const cuttingProxy = async ({ hostname, port }: URL) => {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((near) => {
    connections += 1;
    const far = connectTcp(Number(port), hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy()).on('close', () => to.destroy());
    }
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    port: (server.address() as { port: number }).port,
    connections: () => connections,
    cut,
    async [Symbol.asyncDispose]() {
      cut();
      server.close();
    },
  };
};
