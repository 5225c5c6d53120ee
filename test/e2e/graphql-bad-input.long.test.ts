import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEventLog } from '#shared/event-log/open.ts';
import { type Reply, type RestClient, restClientOf } from '../../testing/http/rest-client.ts';
import { openPeople } from '../../testing/people.ts';
import { type Installation, startInstallation } from '../engines/installation.ts';
import { SCOPES } from '../engines/policy.ts';
import { FIELDS, OPERATIONS, REQUESTS, type Sent } from '../graphql/bad-input.ts';

/** Invalid input: each has a clear answer, and leaves nothing in the log. */
let installation: Installation;
let ask: RestClient;
let token: string;
let gateway: string;
beforeAll(async () => {
  installation = await startInstallation({ settings: { INTROSPECTION: 'off' } });
  ask = restClientOf(installation);
  const people = await openPeople(installation);
  token = (
    await people.tokenOf(
      installation.admin,
      [...SCOPES].filter((scope) => scope !== 'read:schema'),
    )
  ).token;
  gateway = (await people.tokenOf(await people.registerService('reader'), ['read:schema'])).token;
});
afterAll(() => installation?.[Symbol.asyncDispose]());

const JSON_TYPE = 'application/json';
const GRAPHQL_TYPE = 'application/graphql-response+json';

const send = async ({ method, query, ...rest }: Sent): Promise<Reply> => {
  const path = `/graphql${query ? `?${new URLSearchParams(query)}` : ''}`;
  return ask(method ?? (query ? 'GET' : 'POST'), path, { token, ...rest });
};

/** Sends it, and checks the common properties of refusals. */
const refused = async (
  sent: Sent,
): Promise<Reply & { readonly errors: readonly Record<string, unknown>[] }> => {
  const { EVENT_LOG_URL, DATABASE_URL = '' } = installation.settings;
  await using log = await openEventLog({ url: EVENT_LOG_URL ?? DATABASE_URL });
  const before = await log.head();
  const reply = await send(sent);
  expect(await log.head()).toBe(before);
  expect(reply.headers.get('cache-control')).toBe('no-store');
  const { errors } = reply.body as { errors: Record<string, unknown>[] };
  expect(errors?.length, JSON.stringify(reply.body)).toBeGreaterThan(0);
  for (const error of errors) {
    expect(error).toMatchObject({
      message: expect.stringMatching(/./),
      extensions: { code: expect.stringMatching(/^[a-z_]+$/) },
    });
    expect(JSON.stringify(error)).not.toMatch(/did you mean (?!.* \{ \.\.\. \})|node_modules|\bat .*\.ts/i);
    expect(
      Object.keys(error).every((name) => ['message', 'locations', 'path', 'extensions'].includes(name)),
    ).toBe(true);
  }
  return { ...reply, errors };
};

const codesOf = (errors: readonly Record<string, unknown>[]) =>
  new Set(errors.map(({ extensions }) => (extensions as { code: string }).code));

test('without introspection, only a token with read:schema reads the schema', async () => {
  const read = async (query: string, by: string | undefined) =>
    (await ask('POST', '/graphql', { token: by, body: { query } })).body as {
      data?: object;
      errors?: { extensions: { code: string } }[];
    };
  expect(await read('{ _service { sdl } }', gateway)).toMatchObject({
    data: { _service: { sdl: expect.stringContaining('type User') } },
  });
  expect(await read('{ __schema { queryType { name } } }', gateway)).toEqual(
    expect.objectContaining({ data: { __schema: { queryType: { name: 'Query' } } } }),
  );
  for (const by of [token, undefined])
    expect(await read('{ _service { sdl } }', by)).toMatchObject({
      errors: [{ extensions: { code: 'introspection_off' } }],
    });
});

describe('requests', () => {
  test.each(REQUESTS)('%s', async (_name, sent, status, code) => {
    const reply = await refused(sent);
    expect([reply.status, ...codesOf(reply.errors)]).toEqual([status, code]);
    expect(reply.body).not.toHaveProperty('data');
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
    if (status === 405) expect(reply.headers.get('allow')).toContain('POST');
    if (status === 401) expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer/);
  });
});

describe('operations', () => {
  test.each(OPERATIONS)('%s', async (_name, sent, code) => {
    for (const [type, status] of [
      [JSON_TYPE, 200],
      [GRAPHQL_TYPE, 400],
    ] as const) {
      const reply = await refused({ ...sent, headers: { ...sent.headers, accept: type } });
      expect([reply.status, ...codesOf(reply.errors)]).toEqual([status, code]);
      expect(reply.body).not.toHaveProperty('data');
      expect(reply.headers.get('content-type')).toBe(`${type}; charset=utf-8`);
    }
  });
});

describe('fields', () => {
  test.each(FIELDS)('%s', async (_name, sent, code) => {
    const reply = await refused({ ...sent, headers: { ...sent.headers, accept: GRAPHQL_TYPE } });
    expect([reply.status, ...codesOf(reply.errors)]).toEqual([200, code]);
    expect(reply.body).toHaveProperty('data', null);
    expect(reply.errors[0]).toMatchObject({ locations: [expect.anything()], path: [expect.any(String)] });
  });
});
