import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { whyRefused } from '../develop/check.ts';
import { importsOf, localTarget } from './imports.ts';
import { readSources } from './published-sources.ts';

const ROOT = join(import.meta.dirname, '..');
const ALL = 'shared/needed/all.ts';
const LATER = /\blater\(\s*'[^']+',\s*\(\) => import\('([^']+)'\)/g;

const sources = readSources();
/** Each file that is loaded where it is needed, by the file that asks for it. */
const needed = [...sources]
  .filter(([path]) => !path.endsWith('.test.ts'))
  .flatMap(([path, source]) =>
    [...source.matchAll(LATER)].map(([, specifier = '']) => [path, localTarget(path, specifier)] as const),
  );

test('what serves any domain has everything that is loaded where it is needed', () => {
  expect(needed.length).toBeGreaterThan(5);
  const provided = importsOf(sources.get(ALL) ?? '').map(({ specifier }) => localTarget(ALL, specifier));
  for (const [path, target] of needed) expect(provided, `${path} needs it`).toContain(target);
});

const run = async (script: string): Promise<unknown> => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: ROOT,
  });
  return JSON.parse(stdout);
};

test('a declaration is checked in a process of its own, also one that has such words', async () => {
  expect(await whyRefused(join(ROOT, 'examples/helpdesk/domain/domain.ts'), [])).toBeUndefined();
});

test('a domain is assembled once the words that it has are loaded, and others are not', async () => {
  const found = await run(`
    import { WORDS, withWords } from '#kernel/assembly/words.ts';
    import { records } from './test/toy/records.ts';
    const loaded = () => Object.keys(WORDS).filter((word) => WORDS[word].isLoaded);
    const early = await (async () => Object.keys(records.kinds))().catch(({ message }) => message);
    const before = loaded();
    const { kinds } = await withWords(records);
    console.log(JSON.stringify({ early, before, after: loaded(), isSame: records.kinds === kinds }));
  `);
  expect(found).toEqual({
    early: expect.stringContaining('is complete once `start` has loaded it'),
    before: [],
    after: ['hold', 'retain', 'consequences'],
    isSame: true,
  });
});
