import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { IN_PROCESS_SUITES } from './engines/in-process-suites.ts';

const root = join(import.meta.dirname, '..');

test('every end-to-end suite goes through an installation in both topologies, or has a reason not to', () => {
  const suites = globSync('test/e2e/*.test.ts', { cwd: root });
  const staying = suites.filter(
    (file) => !/engines\/(installation|auth-site|following)\.ts/.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(staying.map((file) => basename(file, '.test.ts')).toSorted()).toEqual(
    Object.keys(IN_PROCESS_SUITES).toSorted(),
  );
});
