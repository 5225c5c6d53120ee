import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { WORDS } from '#kernel/assembly/words.ts';
import { NEEDED } from '#shared/needed/load-needed.ts';
import { ANSWERS } from '#shared/rest/answers.ts';
import { whyRefused } from '../develop/check.ts';
import { readSources } from './published-sources.ts';

const ROOT = join(import.meta.dirname, '..');
const LATER = /\blater\(\s*'([^']+)',\s*\(\) => import\(/g;

const sources = readSources();
/** The names of everything that is loaded where it is needed, by the files that name it. */
const needed = [...sources]
  .filter(([path]) => !path.endsWith('.test.ts'))
  .flatMap(([, source]) => [...source.matchAll(LATER)].map(([, name = '']) => name));

test('whatever is loaded later is known, so a start loads it for those who need it', () => {
  expect(needed.length).toBeGreaterThan(5);
  const known = [WORDS, NEEDED, ANSWERS].flatMap((each) => Object.values(each).map(({ name }) => name));
  expect(known.toSorted()).toEqual(needed.toSorted());
});

test('what serves any domain has all of it', async () => {
  const absent = await run(`
    import '#shared/needed/all.ts';
    import { WORDS } from '#kernel/assembly/words.ts';
    import { NEEDED } from '#shared/needed/load-needed.ts';
    import { ANSWERS } from '#shared/rest/answers.ts';
    const all = [WORDS, NEEDED, ANSWERS].flatMap((each) => Object.values(each));
    console.log(JSON.stringify(all.filter((each) => !each.isLoaded).map((each) => each.name)));
  `);
  expect(absent).toEqual([]);
});

test('a start loads the code of served parts and of views, and no other', async () => {
  const loaded = await run(`
    import { withParts } from '#kernel/registry/parts.ts';
    import { loadNeeded, NEEDED } from '#shared/needed/load-needed.ts';
    import { withWords } from '#kernel/assembly/words.ts';
    import { records } from './test/toy/records.ts';
    await loadNeeded(withParts(await withWords(records), ['proof', 'webhooks']));
    console.log(JSON.stringify(Object.keys(NEEDED).filter((each) => NEEDED[each].isLoaded)));
  `);
  expect(loaded).toEqual(['webhooks', 'webhookCommands', 'proof']);
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
