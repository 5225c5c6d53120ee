import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';

/**
 * We import files of the client that are not its interface, so any release may move them. If this fails after
 * an upgrade, adapt the imports.
 */
const ROOT = new URL('../../', import.meta.url);
const CLIENT = '@eventstore/db-client';
const require = createRequire(import.meta.url);

type Import = { readonly file: string; readonly path: string; readonly names: readonly string[] };

const IMPORT = /^import (?<type>type )?(?<what>[^;]+?) from '(?<path>@eventstore\/db-client\/[^']+)';/gm;

/** The names that a file imports, or uses of what it imports as one object. */
const importsIn = (file: string): readonly Import[] => {
  const text = readFileSync(new URL(file, ROOT), 'utf8');
  return [...text.matchAll(IMPORT)].map(({ groups }) => {
    const { what = '', path = '' } = groups ?? {};
    const listed = /^\{(?<names>[^}]+)\}$/.exec(what)?.groups?.names;
    const named = listed?.split(',').map((name) => name.trim());
    const used = [...text.matchAll(new RegExp(`\\b${what}\\.([A-Z]\\w+)`, 'g'))].map(([, name = '']) => name);
    const values = named?.filter((name) => name !== '' && !name.startsWith('type ')) ?? used;
    return { file, path, names: groups?.type === undefined ? [...new Set(values)] : [] };
  });
};

const imports = globSync(['adapters/eventstoredb/*.ts', 'test/engines/eventstoredb/*.ts'], {
  cwd: ROOT,
}).flatMap(importsIn);

test('files of the client are imported, and what is used of them is found', () => {
  const used = new Set(imports.flatMap(({ names }) => names));
  expect(used).toContain('StreamsClient');
  expect(used).toContain('unpackToCommandError');
  expect(used).toContain('ReadResp');
});

test.each(imports)('$path has what $file uses of it', ({ path, names }) => {
  const exported: object = require(path);
  expect(Object.keys(exported)).toEqual(expect.arrayContaining([...names]));
});

test.each([CLIENT, '@grpc/grpc-js'])('%s is pinned exactly, and installed in that version', (name) => {
  const { dependencies } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'));
  const installed = JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, ROOT), 'utf8'));
  expect(dependencies[name]).toBe(installed.version);
});
