import { createHash } from 'node:crypto';
import { describe, expect } from 'vitest';
import { type Backend, test as base, openBackend } from '../../../test/engines/backend.ts';
import { savePersistedDocuments } from '../documents/persisted-documents.ts';

const MODES = ['off', 'apq', 'prefer', 'enforce'] as const;
type Mode = (typeof MODES)[number];
const LOADED = 'query Loaded { __typename }';
const OTHER = 'query Other { users { id } }';
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

const test = base.extend('backends', { scope: 'file' }, async ({ backendOptions }, { onCleanup }) => {
  const opened = await Promise.all(
    MODES.map(async (mode) => {
      const backend = await openBackend({ PERSISTED_DOCUMENTS: mode }, backendOptions);
      await savePersistedDocuments(backend.side.pool, [{ id: hashOf(LOADED), text: LOADED }]);
      return [mode, backend] as const;
    }),
  );
  onCleanup(async () => {
    await Promise.all(opened.map(([, backend]) => backend[Symbol.asyncDispose]()));
  });
  return Object.fromEntries(opened) as Record<Mode, Backend>;
});

const apq = (text: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash: hashOf(text) } } });
const REQUESTS = {
  text: { query: OTHER },
  'the id of what is loaded': { documentId: `sha256:${hashOf(LOADED)}` },
  'the hash of what is loaded': apq(LOADED),
  'a text with its hash': { query: OTHER, ...apq(OTHER) },
  'the hash of what was sent': apq(OTHER),
  'the id of what was sent': { documentId: hashOf(OTHER) },
  'an id that nobody knows': { documentId: 'unknown' },
} as const;

const NOT_SUPPORTED = 'PERSISTED_QUERY_NOT_SUPPORTED';
const NOT_FOUND = 'PERSISTED_QUERY_NOT_FOUND';
const NOT_IN_LIST = 'PERSISTED_QUERY_NOT_IN_LIST';
const ID_REQUIRED = 'PERSISTED_QUERY_ID_REQUIRED';
/** In the order in which the requests are sent; more of them are in documents/persisted.test.ts. */
const ANSWERS: Readonly<Record<Mode, readonly string[]>> = {
  off: ['ok', ...Array.from({ length: 6 }, () => NOT_SUPPORTED)],
  apq: ['ok', NOT_FOUND, NOT_FOUND, 'ok', 'ok', 'ok', NOT_FOUND],
  prefer: ['ok', 'ok', 'ok', 'ok', 'ok', 'ok', NOT_FOUND],
  enforce: [ID_REQUIRED, 'ok', 'ok', NOT_IN_LIST, NOT_IN_LIST, NOT_IN_LIST, NOT_IN_LIST],
};

type Body = { data?: object; errors?: { message: string; extensions: { code: string } }[] };

describe.each(MODES)('with persisted documents %s', (mode) => {
  test('a document is accepted as the mode says', async ({ backends }) => {
    const answers: string[] = [];
    for (const body of Object.values(REQUESTS)) {
      const reply = (await backends[mode].ask('/graphql', { method: 'POST', body })).body as Body;
      answers.push(reply.data ? 'ok' : (reply.errors?.[0]?.extensions.code ?? 'nothing'));
      // Apollo's clients compare the message.
      if (answers.at(-1) === NOT_FOUND) expect(reply.errors?.[0]?.message).toBe('PersistedQueryNotFound');
    }
    expect(Object.keys(REQUESTS).map((name, index) => [name, answers[index]])).toEqual(
      Object.keys(REQUESTS).map((name, index) => [name, ANSWERS[mode][index]]),
    );
  });
});

test('a query over GET gets 304 while its answer is the same', async ({ backends: { apq: backend } }) => {
  const person = await backend.person('author', 'Ada');
  const text = 'query Name($id: ID!) { user(id: $id) { name } }';
  const variables = JSON.stringify({ id: person.id });
  await backend.ask('/graphql', {
    method: 'POST',
    body: { query: text, variables: { id: 1 }, ...apq(text) },
  });
  const path = `/graphql?${new URLSearchParams({ extensions: JSON.stringify(apq(text).extensions), variables })}`;
  const first = await backend.ask(path);
  expect(first.body).toMatchObject({ data: { user: { name: 'Ada' } } });
  expect(first.headers.get('cache-control')).toBe('public, no-cache');
  expect(first.headers.get('vary')).toMatch(/Accept.*Authorization/);
  const etag = first.headers.get('etag') ?? '';
  const again = await backend.ask(path, { headers: { 'if-none-match': etag } });
  expect([again.status, again.body, again.headers.get('etag')]).toEqual([304, '', etag]);
  const newer = { accept: 'application/graphql-response+json', 'if-none-match': etag };
  expect((await backend.ask(path, { headers: newer })).status).toBe(200);
  expect((await backend.ask(path, { by: person })).headers.get('cache-control')).toBe('private, no-cache');
  const head = await backend.ask(path, { method: 'HEAD' });
  expect([head.status, head.body, head.headers.get('etag')]).toEqual([200, '', etag]);
});

test('a refusal is not cacheable', async ({ backends }) => {
  const { headers, status } = await backends.apq.ask('/graphql?documentId=unknown');
  expect([status, headers.get('cache-control'), headers.get('etag')]).toEqual([200, 'no-store', null]);
});
