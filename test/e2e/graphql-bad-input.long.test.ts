import { describe, expect } from 'vitest';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import type { Reply } from '../../testing/http/rest-client.ts';
import { test as base } from '../engines/installation-fixture.ts';
import { SCOPES } from '../engines/policy.ts';
import { FIELDS, OPERATIONS, REQUESTS, type Sent } from '../graphql/bad-input.ts';

/** Invalid input: each has a clear answer, and leaves nothing in the log. */
const JSON_TYPE = 'application/json';
const GRAPHQL_TYPE = 'application/graphql-response+json';

/** The common properties of refusals. */
const demandRefusal = (reply: Reply): readonly Record<string, unknown>[] => {
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
  return errors;
};

const test = base
  .extend('installationOptions', { scope: 'file' }, { settings: { INTROSPECTION: 'off' } })
  .extend('token', { scope: 'file' }, async ({ installation, people }) => {
    const scopes = SCOPES.filter((scope) => scope !== 'read:schema');
    return (await people.tokenOf(installation.admin, scopes)).token;
  })
  .extend('gateway', { scope: 'file' }, async ({ people }) =>
    people.tokenOf(await people.registerService('reader'), ['read:schema']),
  )
  .extend('log', { scope: 'file' }, async ({ installation: { settings } }, { onCleanup }) => {
    const log = await openEventLog({
      url: settings.EVENT_LOG_URL ?? settings.DATABASE_URL ?? '',
      clock: REAL_TIME,
    });
    onCleanup(() => log[Symbol.asyncDispose]());
    return log;
  })
  /** Sends it, which must leave the log as it is. */
  .extend('refused', { scope: 'file' }, ({ ask, log, token }) => async ({ method, query, ...rest }: Sent) => {
    const before = await log.head();
    const path = `/graphql${query ? `?${new URLSearchParams(query)}` : ''}`;
    const reply = await ask(method ?? (query ? 'GET' : 'POST'), path, { token, ...rest });
    expect(await log.head()).toBe(before);
    return { ...reply, errors: demandRefusal(reply) };
  });

const codesOf = (errors: readonly Record<string, unknown>[]) =>
  new Set(errors.map(({ extensions }) => (extensions as { code: string }).code));

test('without introspection, only a token with read:schema reads the schema', async ({
  ask,
  gateway,
  token,
}) => {
  const read = async (query: string, by: string | undefined) =>
    (await ask('POST', '/graphql', { token: by, body: { query } })).body as {
      data?: object;
      errors?: { extensions: { code: string } }[];
    };
  expect(await read('{ _service { sdl } }', gateway.token)).toMatchObject({
    data: { _service: { sdl: expect.stringContaining('type User') } },
  });
  expect(await read('{ __schema { queryType { name } } }', gateway.token)).toEqual(
    expect.objectContaining({ data: { __schema: { queryType: { name: 'Query' } } } }),
  );
  for (const by of [token, undefined])
    expect(await read('{ _service { sdl } }', by)).toMatchObject({
      errors: [{ extensions: { code: 'introspection_off' } }],
    });
  const path = '/graphql/schema.graphql';
  const { status, headers } = await ask('GET', path, { token: gateway.token });
  expect([status, headers.get('cache-control')]).toEqual([200, 'private, no-cache']);
  expect(headers.get('vary')).toContain('Authorization');
  expect(await ask('GET', path, { token })).toMatchObject({
    status: 403,
    body: { code: 'insufficient_scope' },
  });
  for (const method of ['GET', 'HEAD']) expect((await ask(method, path)).status).toBe(401);
});

describe('requests', () => {
  test.for(REQUESTS)('%s', async ([_name, sent, status, code], { refused }) => {
    const reply = await refused(sent);
    expect([reply.status, ...codesOf(reply.errors)]).toEqual([status, code]);
    expect(reply.body).not.toHaveProperty('data');
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
    if (status === 405) expect(reply.headers.get('allow')).toContain('POST');
    if (status === 401) expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer/);
  });
});

describe('operations', () => {
  test.for(OPERATIONS)('%s', async ([_name, sent, code], { refused }) => {
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
  test.for(FIELDS)('%s', async ([_name, sent, code], { refused }) => {
    const reply = await refused({ ...sent, headers: { ...sent.headers, accept: GRAPHQL_TYPE } });
    expect([reply.status, ...codesOf(reply.errors)]).toEqual([200, code]);
    expect(reply.body).toHaveProperty('data', null);
    expect(reply.errors[0]).toMatchObject({ locations: [expect.anything()], path: [expect.any(String)] });
  });
});
