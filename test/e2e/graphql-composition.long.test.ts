// Over 200 lines, because every gateway is tried on the one installation that is set up here.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import type { GraphqlReply } from '../../testing/graphql/graphql-client.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { test as base } from '../engines/installation-fixture.ts';
import { type RoleProcess, startRole } from '../engines/role-process.ts';

const SERVICE = 'test/engines/graphql-service.ts';
const startService = async (port: number, settings: Record<string, string> = {}): Promise<RoleProcess> => {
  const service = startRole(SERVICE, { PORT: String(port), ...settings });
  await service.logged('ready');
  return service;
};

type Answer = GraphqlReply<Readonly<Record<string, unknown>> | null | undefined>;

/** Services beside ours, in processes of their own: one runs, one starts later, and one is down. */
const test = base
  .extend('ports', { scope: 'file' }, async () => ({
    shop: await freePort(),
    late: await freePort(),
    down: await freePort(),
  }))
  .extend('folder', { scope: 'file' }, async ({ ports }, { onCleanup }) => {
    const folder = await temporaryDataDir();
    onCleanup(() => folder[Symbol.asyncDispose]());
    const services = {
      shop: {
        url: `http://127.0.0.1:${ports.shop}/graphql`,
        timeoutMs: 700,
        forwardHeaders: ['X-Tenant'],
        headers: { 'X-Api-Key': 'k' },
      },
      late: {
        url: `http://127.0.0.1:${ports.late}/graphql`,
        timeoutMs: 700,
        forwardHeaders: ['authorization'],
        prefix: 'Late_',
      },
      down: { url: `http://127.0.0.1:${ports.down}/graphql`, schemaFile: 'down.graphql' },
    };
    const types = 'type Query { stock: Stock! all: [Stock!]! } type Stock { count: Int! }';
    await writeFile(join(folder.path, 'down.graphql'), types);
    await writeFile(join(folder.path, 'compose.json'), JSON.stringify(services));
    return folder.path;
  })
  .extend('shop', { scope: 'file' }, async ({ ports }, { onCleanup }) => {
    let running = await startService(ports.shop);
    onCleanup(() => running[Symbol.asyncDispose]());
    return {
      kill: () => running.kill('SIGKILL'),
      async startAgain() {
        running = await startService(ports.shop);
      },
    };
  })
  .extend('installationOptions', { scope: 'file' }, ({ folder, shop: _running }) => ({
    // vitest loads another copy of graphql than the package that wraps schemas.
    ownProcess: true,
    settings: { GRAPHQL_COMPOSE: join(folder, 'compose.json'), INTROSPECTION: 'on' },
  }))
  .extend('token', { scope: 'file' }, ({ people }) => people.administrator.token)
  .extend(
    'run',
    { scope: 'file' },
    ({ graphql, token }) =>
      (query: string, variables = {}, headers = {}): Promise<Answer> =>
        graphql(query, { token, headers, variables }),
  )
  .extend('post', { scope: 'file' }, async ({ publishing, run }) => {
    const post = await publishing.publish('Ours');
    await until(
      () => run(`{ post(id: "${post}") { id } }`),
      ({ data }) => data?.post !== null,
    );
    return post;
  });

const codes = ({ errors = [] }: Answer) => errors.map(({ extensions }) => extensions.code);

describe('another service', () => {
  test('is queried beside ours, with variables, aliases, fragments, unions and interfaces', async ({
    post,
    run,
  }) => {
    const query = `query ($post: ID!, $id: ID!, $with: Boolean!) {
      post(id: $post) { title author { __typename } }
      best: review(id: $id) { ...R about { name reviews { ...R } } }
      search(text: "x") { __typename ... on Review { stars } ... on Product { called: name } }
      thing(id: "p1") { id __typename ... on Product { name } }
      again: review(id: "r2") @include(if: $with) { grade text }
    } fragment R on Review { id points: stars }`;
    const r1 = { id: 'r1', points: 5 };
    expect(await run(query, { post, id: 'r1', with: true })).toMatchObject({
      data: {
        post: { title: 'Ours', author: { __typename: 'User' } },
        best: { ...r1, about: { name: 'Engine', reviews: [r1, { id: 'r2', points: 1 }] } },
        search: [
          { __typename: 'Review', stars: 5 },
          { __typename: 'Product', called: 'Engine' },
        ],
        thing: { id: 'p1', __typename: 'Product', name: 'Engine' },
        again: { grade: 'BAD', text: null },
      },
    });
  });

  test('is mutated through us, in one operation with ours', async ({ post, run }) => {
    const query = `mutation ($input: ReviewInput!, $post: ID!) {
      addReview(input: $input) { id grade } updatePost(id: $post, changes: { tags: ["one"] }) { tags } }`;
    const { data } = await run(query, { post, input: { stars: 3 } });
    expect(data).toEqual({ addReview: { id: 'r3', grade: 'GOOD' }, updatePost: { tags: ['one'] } });
  });

  test('is in introspection, without the fields reserved for its own gateways', async ({ run }) => {
    const { data } = await run(
      '{ __schema { queryType { fields { name } } } review: __type(name: "Review") { fields { name } } }',
    );
    const schema = data as { __schema: { queryType: { fields: { name: string }[] } } };
    const names = schema.__schema.queryType.fields.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['posts', 'reviews', '_entities']));
    expect(names.filter((name) => name === '_service')).toHaveLength(1);
    expect(data?.review).toMatchObject({ fields: expect.arrayContaining([{ name: 'stars' }]) });
  });

  test('gets one request per operation, and none for our fields', async ({ run }) => {
    const count = async () => Number((await run('{ operations }')).data?.operations);
    const before = await count();
    await run('{ a: review(id: "r1") { id } b: review(id: "r2") { id } reviews { id } }');
    await run('{ posts { title } }');
    expect(await count()).toBe(before + 2);
  });

  test('cannot be subscribed to through us, with an error; ours can', async ({
    openStream,
    post,
    run,
    token,
  }) => {
    const refused = await openStream('subscription { reviewAdded { stars } }', { token });
    const [result] = await refused.results(1);
    expect(result?.errors?.[0]).toMatchObject({
      message:
        'reviewAdded is a subscription of shop. Subscriptions of composed services are not forwarded: subscribe at the service.',
      extensions: { code: 'subscription_elsewhere', service: 'shop' },
    });
    const ours = await openStream(`subscription { articleChanged(id: ${post}) { article { title } } }`, {
      token,
    });
    await run('mutation ($post: ID!) { updatePost(id: $post, changes: { body: "Changed" }) { id } }', {
      post,
    });
    expect(await ours.results(1)).toEqual([{ data: { articleChanged: { article: { title: 'Ours' } } } }]);
  });

  test('gets only the named headers of the client', async ({ run }) => {
    const { data } = await run('{ headers }', {}, { 'X-Tenant': 't', 'X-Other': 'o' });
    expect(data?.headers).toEqual(expect.arrayContaining(['x-tenant', 'x-api-key', 'x-request-id']));
    for (const name of ['authorization', 'x-other', 'cookie']) expect(data?.headers).not.toContain(name);
  });
});

describe('limits apply to it, too', () => {
  test('to its cost', async ({ run }) => {
    expect(
      (await run('{ reviews(limit: 20) { about { reviews { id } } } }')).extensions?.cost?.requestedQueryCost,
    ).toBe(20 * (1 + 1 + 10));
    expect(codes(await run('{ reviews(limit: 100) { about { reviews { id } } } }'))).toEqual(['too_costly']);
    expect(codes(await run('{ reviews(limit: 101) { id } }'))).toEqual(['limit_out_of_range']);
  });

  test('to its depth, and to unknown fields', async ({ run }) => {
    const nested = (levels: number): string =>
      levels === 0 ? '{ id }' : `{ about { reviews ${nested(levels - 1)} } }`;
    expect(codes(await run(`{ review(id: "r1") ${nested(5)} }`))).toEqual(['too_deep']);
    expect(codes(await run('{ reviews { nothing } }'))).toContain('invalid_document');
    expect(codes(await run('query ($n: Int!) { reviews(limit: $n) { id } }', { n: 'x' }))).toEqual([
      'invalid_variables',
    ]);
  });
});

describe('its errors', () => {
  test('are at their path, as the service reports them', async ({ run }) => {
    const answer = await run('{ review(id: "r1") { stars failing } post(id: 1) { id } }');
    expect(answer).toMatchObject({
      data: { review: { stars: 5, failing: null }, post: null },
      errors: [
        {
          message: 'no text today',
          path: ['review', 'failing'],
          extensions: { code: 'service_error', service: 'shop' },
        },
      ],
    });
  });

  test('are complete if there are several', async ({ run }) => {
    const { data, errors } = await run('{ soldOut }');
    expect(data).toEqual({ soldOut: null });
    const extensions = { code: 'service_error', service: 'shop' };
    expect(errors).toMatchObject(
      ['Sold out.', 'Closed.'].map((message) => ({ message, path: ['soldOut'], extensions })),
    );
  });

  test('include a timeout if it does not answer, beside the remaining data', async ({ post, run }) => {
    const startedMs = performance.now();
    const answer = await run(`query ($post: ID!) { slow post(id: $post) { title } }`, { post });
    expect(performance.now() - startedMs).toBeLessThan(scaled(5_000));
    expect(answer).toMatchObject({ data: { slow: null, post: { title: 'Ours' } } });
    expect(answer.errors).toMatchObject([
      { path: ['slow'], extensions: { code: 'service_unavailable', service: 'shop' } },
    ]);
  });

  test('include an outage, until it is up again', async ({ post, run, shop }) => {
    await shop.kill();
    const query = 'query ($post: ID!) { reviews { id } headers post(id: $post) { title } }';
    const answer = await run(query, { post });
    expect(answer.data).toEqual({ reviews: null, headers: null, post: { title: 'Ours' } });
    expect(codes(answer)).toEqual(['service_unavailable', 'service_unavailable']);
    await shop.startAgain();
    expect(codes(await run(query, { post }))).toEqual([]);
  });
});

test('a service that was down at the start, with types in a file, is null beside the remaining data', async ({
  post,
  run,
}) => {
  const answer = await run(
    'query ($post: ID!) { stock { count } all { count } post(id: $post) { title } review(id: "r1") { stars } }',
    { post },
  );
  expect(answer.data).toEqual({ stock: null, all: null, post: { title: 'Ours' }, review: { stars: 5 } });
  expect(answer.errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
    [['stock'], 'service_unavailable'],
    [['all'], 'service_unavailable'],
  ]);
});

test('a service with type names of ours is refused at the start, with a remedy', async ({
  installation,
  ports,
}) => {
  await using _conflicting = await startService(ports.down, { TYPE_NAME: 'Post' });
  const settings = {
    ...installation.settings,
    GRAPHQL_COMPOSE: `one=http://127.0.0.1:${ports.down}/graphql`,
  };
  await using role = startRole('query/main.ts', settings);
  await until(role.printed, (text) =>
    text.includes(
      'GRAPHQL_COMPOSE: The service one has the type Post, which Annals also has: give the service a "prefix"',
    ),
  );
});

/** The router polls the service, which takes its time on a busy machine. */
const LATE_MS = 60_000;

test('a service that was down at the start works once it answers, under its prefix, and gets the token if configured', async ({
  ports,
  run,
}) => {
  const query = '{ Late_headers Late_search(text: "x") { __typename ... on Late_Product { name } } }';
  expect(codes(await run(query))[0]).toBe('service_unavailable');
  expect(codes(await run('{ posts { title } }'))).toEqual([]);
  await using _late = await startService(ports.late);
  const { data } = await until(
    () => run(query),
    (answer) => answer.errors === undefined,
    LATE_MS,
  );
  expect(data).toMatchObject({
    Late_search: [{ __typename: 'Late_Review' }, { __typename: 'Late_Product', name: 'Engine' }],
  });
  expect(data?.Late_headers).toContain('authorization');
});
