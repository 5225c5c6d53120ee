import { readFileSync } from 'node:fs';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryDataDir } from './engines/data-dir.ts';
import { type FollowedPage, openFollowedPage, ROOT } from './engines/followed-page.ts';
import { patternOf, sectionsOf } from './engines/tutorial-page.ts';

/** Follows the path of both guides in a copy of this checkout, because it writes files into it. */
const GUIDES = ['domain', 'grow-domain'].map((name) =>
  readFileSync(new URL(`../docs/${name}.md`, import.meta.url), 'utf8'),
);
/** The numbered steps; the sections after them are to look things up. */
const SECTIONS = GUIDES.flatMap((guide) => sectionsOf(guide.split(/^## (?!\d)/m)[0] ?? ''));
/**
 * Files that are not part of a clone, or that the copy does not need; it shares the `node_modules` of this
 * checkout.
 */
const LEFT_OUT = /^(?:\..*|node_modules|coverage|dist)$/;

const open = new AsyncDisposableStack();
let clone: string;
let page: FollowedPage;

beforeAll(async () => {
  clone = open.use(await temporaryDataDir()).path;
  await cp(ROOT, clone, { recursive: true, filter: (path) => !LEFT_OUT.test(basename(path)) });
  await symlink(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  const data = open.use(await temporaryDataDir());
  page = open.use(await openFollowedPage({ folder: clone, others: { '.data/meetups': data.path } }));
});
afterAll(() => open.disposeAsync());

test.each(SECTIONS)('%s', async (_section, steps) => {
  for (const step of steps) {
    const printed = await page.follow(step);
    if (step.shown !== undefined) expect(printed).toMatch(patternOf(page.here(step.shown)));
  }
});

test('the written code has no type error, and a mistake has one', async () => {
  const config = { extends: './tsconfig.json', include: ['domain/meetups*.ts'] };
  await writeFile(join(clone, 'tsconfig.meetups.json'), JSON.stringify(config));
  await page.shell.type('npx tsc -p tsconfig.meetups.json');
  const file = join(clone, 'domain/meetups.ts');
  await writeFile(file, (await readFile(file, 'utf8')).replace("emits: 'closed'", "emits: 'closd'"));
  await expect(page.shell.type('npx tsc -p tsconfig.meetups.json')).rejects.toThrow('closd');
});

test('Ctrl+C stops it', async () => {
  await page.stop();
  await expect(fetch(page.here('http://127.0.0.1:4000/livez'))).rejects.toThrow();
});
