import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { createResolveDocument, type PersistedMode } from './persisted.ts';

const text = '{ me { id } }';
const other = '{ me { name } }';
const hashOf = (document: string): string => createHash('sha256').update(document).digest('hex');
const loadedText = '{ users { id } }';

/** The operator has loaded one document, under its hash and under a name. */
const resolver = (mode: PersistedMode) =>
  createResolveDocument({
    mode,
    loaded: {
      async find(id) {
        return id === 'users' || id.replace(/^sha256:/, '') === hashOf(loadedText) ? loadedText : undefined;
      },
    },
  });

const code = (expected: string) => expect.objectContaining({ extensions: { code: expected } });

test.each<PersistedMode>(['off', 'apq', 'prefer'])('in mode %s a text is what it says', async (mode) => {
  expect(await resolver(mode)({ query: text })).toBe(text);
});

test.each<PersistedMode>(['apq', 'prefer'])(
  'in mode %s a text that was sent with its hash is known by it',
  async (mode) => {
    const resolve = resolver(mode);
    await expect(resolve({ apqHash: hashOf(text) })).rejects.toEqual(code('PERSISTED_QUERY_NOT_FOUND'));
    expect(await resolve({ query: text, apqHash: hashOf(text) })).toBe(text);
    expect(await resolve({ apqHash: hashOf(text) })).toBe(text);
    expect(await resolve({ documentId: `sha256:${hashOf(text)}` })).toBe(text);
  },
);

test('a text with the hash of another is refused, and not stored', async () => {
  const resolve = resolver('apq');
  await expect(resolve({ query: text, apqHash: hashOf(other) })).rejects.toEqual(
    code('PERSISTED_QUERY_HASH_MISMATCH'),
  );
  await expect(resolve({ apqHash: hashOf(other) })).rejects.toEqual(code('PERSISTED_QUERY_NOT_FOUND'));
});

test.each<PersistedMode>(['prefer', 'enforce'])(
  'in mode %s what was loaded is known by its id',
  async (mode) => {
    expect(await resolver(mode)({ documentId: 'users' })).toBe(loadedText);
    expect(await resolver(mode)({ documentId: `sha256:${hashOf(loadedText)}` })).toBe(loadedText);
  },
);

test('in mode apq, loaded documents are ignored', async () => {
  await expect(resolver('apq')({ documentId: 'users' })).rejects.toEqual(code('PERSISTED_QUERY_NOT_FOUND'));
});

test('in mode enforce, only loaded documents run, even if a text is sent', async () => {
  const resolve = resolver('enforce');
  expect(await resolve({ query: loadedText })).toBe(loadedText);
  await expect(resolve({ query: text })).rejects.toEqual(code('PERSISTED_QUERY_ID_REQUIRED'));
  await expect(resolve({ documentId: hashOf(text) })).rejects.toEqual(code('PERSISTED_QUERY_NOT_IN_LIST'));
  await expect(resolve({ query: text, apqHash: hashOf(text) })).rejects.toEqual(
    code('PERSISTED_QUERY_NOT_IN_LIST'),
  );
  await expect(resolve({ query: text, documentId: 'users' })).rejects.toEqual(
    code('PERSISTED_QUERY_NOT_IN_LIST'),
  );
});

test('in mode off, no id is accepted', async () => {
  await expect(resolver('off')({ documentId: 'users' })).rejects.toEqual(
    code('PERSISTED_QUERY_NOT_SUPPORTED'),
  );
  await expect(resolver('off')({ query: text, apqHash: hashOf(text) })).rejects.toEqual(
    code('PERSISTED_QUERY_NOT_SUPPORTED'),
  );
});

test.each<PersistedMode>(['off', 'apq', 'prefer', 'enforce'])(
  'in mode %s a request without a document is refused',
  async (mode) => {
    await expect(resolver(mode)({})).rejects.toEqual(code('document_missing'));
    await expect(resolver(mode)({ query: '' })).rejects.toEqual(code('document_missing'));
  },
);
