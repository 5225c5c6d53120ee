import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const MARKER = /^(?:<<<<<<<|>>>>>>>) /m;

/** No compiler refuses a marker inside a template literal. */
test('no file has a marker of an unresolved merge', () => {
  const exclude = ['**/node_modules/**', 'dist/**', '**/.data/**'];
  const paths = globSync('**/*.{ts,js,mjs,css,html,md,json,yml,yaml,sql,graphql,sh}', { cwd: root, exclude });
  expect(paths.length).toBeGreaterThan(2_000);
  expect(paths.filter((path) => MARKER.test(readFileSync(join(root, path), 'utf8')))).toEqual([]);
});
