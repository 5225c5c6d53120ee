import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const filesWith = (pattern: RegExp, files: string): string[] =>
  globSync(files, { cwd: root }).filter((file) => pattern.test(readFileSync(join(root, file), 'utf8')));

const INSTALLATION = /engines\/(installation|installation-fixture|auth-site|following|terminal)\.ts/;

test('every end-to-end test uses an installation, or says why it has its own server', () => {
  expect(filesWith(INSTALLATION, 'test/e2e/*.test.ts')).toEqual(
    globSync('test/e2e/*.test.ts', { cwd: root }),
  );
  expect(filesWith(INSTALLATION, 'test/own-server/*.test.ts')).toEqual([]);
  expect(filesWith(/^\/\/ Own server: \w+/m, 'test/own-server/*.test.ts')).toEqual(
    globSync('test/own-server/*.test.ts', { cwd: root }),
  );
});
