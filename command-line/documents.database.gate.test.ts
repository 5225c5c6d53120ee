import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { callLine } from '../test/engines/call-line.ts';
import { temporaryDataDir } from '../test/engines/data-dir.ts';
import { test as base } from '../test/engines/pool.ts';

type Settings = Readonly<Record<string, string>>;

const test = base
  .extend('run', { scope: 'file' }, ({ database }) => (args: readonly string[], settings: Settings = {}) => {
    return callLine({ DATABASE_URL: database.url, ...settings }, args);
  })
  .extend('folder', { scope: 'file' }, async ({ database: _beside }, { onCleanup }) => {
    const folder = await temporaryDataDir();
    onCleanup(() => folder[Symbol.asyncDispose]());
    return folder.path;
  })
  .extend('file', { scope: 'file' }, ({ folder }) => async (name: string, content: string) => {
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  });

const users = 'query Users { users { id name } }';

test.for<[string, string, string]>([
  ['client-preset', JSON.stringify({ abc1: users }), 'abc1  Users'],
  ['relay', JSON.stringify({ '9d5e': users, '7c1f': '{ me { id } }' }), '9d5e  Users'],
  [
    'apollo',
    JSON.stringify({
      format: 'apollo-persisted-query-manifest',
      version: 1,
      operations: [{ id: 'ap01', body: users, name: 'Users', type: 'query' }],
    }),
    'ap01  Users',
  ],
  ['one document', users, '  Users'],
  ['one document in short form', '{ me { name } }', 'without a name'],
])('a file as %s is loaded and listed', async ([name, content, listed], { file, run }) => {
  const { exit, output } = await run(['documents', 'load', await file(`${name}.json`, content)], {
    PERSISTED_DOCUMENTS: 'prefer',
  });
  expect(output).toMatch(/^\d+ documents? (is|are) loaded\.$/);
  expect(exit).toBe(0);
  expect((await run(['documents', 'list'])).output).toContain(listed);
});

test('it says if the server does not use trusted documents', async ({ file, run }) => {
  const { exit, complaint } = await run([
    'documents',
    'load',
    await file('said.json', JSON.stringify({ said: users })),
  ]);
  expect([exit, complaint]).toEqual([
    0,
    'PERSISTED_DOCUMENTS is apq: set it to prefer or enforce so that the server uses them.',
  ]);
});

test('a document that would be refused is named, and nothing is loaded', async ({ file, run }) => {
  const manifest = await file(
    'wrong.json',
    JSON.stringify({ fine: users, broken: 'query Nothing { nothing }' }),
  );
  const { exit, complaint } = await run(['documents', 'load', manifest]);
  expect(exit).not.toBe(0);
  expect(complaint).toContain('Nothing (broken): Cannot query field "nothing" on type "Query".');
  expect((await run(['documents', 'list'])).output).not.toContain('fine  ');
});

test.for(['[]', '{"a": 1}', '{"": "{ me { id } }"}', '{"a"'])(
  '%s is no manifest',
  async (content, { file, run }) => {
    const { exit, complaint } = await run(['documents', 'load', await file('none.json', content)]);
    expect(exit).not.toBe(0);
    expect(complaint).toMatch(/is neither a manifest|Nothing was loaded/);
  },
);

test('a removed document is gone', async ({ file, folder, run }) => {
  await run(['documents', 'load', await file('gone.json', JSON.stringify({ gone: users }))]);
  expect((await run(['documents', 'remove', 'gone'])).output).toBe('gone was removed.');
  expect((await run(['documents', 'remove', 'gone'])).complaint).toBe('There is no document gone.');
  expect((await run(['documents', 'load', join(folder, 'missing.json')])).complaint).toContain(
    'does not exist',
  );
});
