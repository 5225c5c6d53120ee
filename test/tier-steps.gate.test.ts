import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ROOT } from './checkout-copy.ts';
import { test as base } from './engines/folder-fixture.ts';
import { runStep } from './tiers/run-step.ts';

const CONFIG = `import { existsSync } from 'node:fs';
import { withoutLeftOut } from ${JSON.stringify(join(ROOT, 'test/tiers/left-out.ts'))};
const globalSetup = existsSync('teardown.js') ? ['teardown.js'] : [];
const small = { name: 'small', include: ['*.test.js'], exclude: ['other/**'], globalSetup };
export default { test: { projects: [{ test: small }].map(withoutLeftOut) } };`;
const PASSES = `test('it', () => {});`;
const FAILS = `test('it', () => { throw new Error('never'); });`;
/** Notes the seed of each run, and passes from the second one on. */
const FAILS_ONCE = `test('it', () => {
  appendFileSync('seeds', process.env.TEST_SEED + '\\n');
  if (readFileSync('seeds', 'utf8').split('\\n').length < 3) throw new Error('once');
});`;
const THROWS_LATER = `test('it', () => {}); Promise.reject(new Error('outside of a test'));`;
const IMPORTS = `import { appendFileSync, readFileSync } from 'node:fs';\nimport { test } from 'vitest';\n`;

const test = base
  .extend('checkout', async ({ openFolder }, { onCleanup }) => {
    const folder = await openFolder();
    onCleanup(() => folder[Symbol.asyncDispose]());
    symlinkSync(join(ROOT, 'node_modules'), join(folder.path, 'node_modules'));
    writeFileSync(join(folder.path, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder.path, 'vitest.config.js'), CONFIG);
    return folder.path;
  })
  .extend('runFiles', ({ checkout, folder }) => (files: Readonly<Record<string, string>>) => {
    for (const [name, body] of Object.entries(files)) writeFileSync(join(checkout, name), IMPORTS + body);
    return runStep(
      { name: 'small', run: { projects: ['small'] } },
      { folder, root: checkout, seed: 7, isQuiet: true },
    );
  });

test('a file that fails once runs again alone, with the same seed', async ({ runFiles }) => {
  const result = await runFiles({ 'a.test.js': PASSES, 'b.test.js': FAILS_ONCE });
  expect(result).toMatchObject({
    outcome: 'passed',
    secondRuns: [{ project: 'small', file: 'b.test.js', seed: 7, isPassed: true }],
  });
  expect(result.files.map(({ file, failed }) => [file, failed]).toSorted()).toEqual([
    ['a.test.js', 0],
    ['b.test.js', 1],
  ]);
});

test('a step runs without the files that it leaves out', async ({ checkout, folder }) => {
  for (const name of ['a', 'b', 'c.long']) writeFileSync(join(checkout, `${name}.test.js`), IMPORTS + PASSES);
  const without = ['**/a.test.js', '**/*.long.test.js'];
  const { files } = await runStep(
    { name: 'other', run: { projects: ['small'], without } },
    { folder, root: checkout, isQuiet: true },
  );
  expect(files.map(({ file }) => file)).toEqual(['b.test.js']);
});

test('a file that fails twice fails the step', async ({ runFiles }) => {
  expect(await runFiles({ 'a.test.js': PASSES, 'b.test.js': FAILS })).toMatchObject({
    outcome: 'failed',
    secondRuns: [{ file: 'b.test.js', isPassed: false }],
  });
});

test('four failed files are no chance', async ({ runFiles }) => {
  const files = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [`${name}.test.js`, FAILS]));
  expect(await runFiles(files)).toMatchObject({ outcome: 'failed', why: '4 files failed', secondRuns: [] });
});

test('an error outside of a test fails the step', async ({ runFiles }) => {
  expect(await runFiles({ 'a.test.js': THROWS_LATER })).toMatchObject({
    outcome: 'failed',
    why: 'unhandled error: outside of a test',
  });
});

test('a failed teardown of the whole run fails the step', async ({ runFiles }) => {
  const teardown = `export const teardown = () => { throw new Error('left behind'); };`;
  expect(await runFiles({ 'a.test.js': PASSES, 'teardown.js': teardown })).toMatchObject({
    outcome: 'failed',
    why: 'vitest ended with 1',
  });
});

test('a step without files, without a program or after a failed program does not pass', async ({
  folder,
  runFiles,
}) => {
  expect(await runFiles({})).toMatchObject({ outcome: 'failed' });
  const missing = 'there is no Redis';
  expect(await runStep({ name: 'small', run: ['true'], missing }, { folder })).toMatchObject({
    outcome: 'skipped',
    why: missing,
  });
  expect(await runStep({ name: 'small', run: ['true'], before: ['false'] }, { folder })).toMatchObject({
    outcome: 'failed',
    why: 'false ended with 1',
  });
});
