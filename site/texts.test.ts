import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Marked, type Token } from 'marked';
import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { PART_NAMES, withParts } from '#kernel/registry/parts.ts';
import { SETTINGS } from '#process/settings.ts';
import { runCommandLine } from '../command-line/program.ts';
import { SCRIPTS } from '../create/files.ts';
import { anchorsOf } from './guides/markdown.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const TEXTS = [...globSync('docs/*.md', { cwd: ROOT }).toSorted(), 'README.md', 'CHANGELOG.md'];
const reader = new Marked({ gfm: true });
const tokens = new Map(TEXTS.map((path) => [path, reader.lexer(read(path))]));

const collected = <Found>(path: string, find: (token: Token) => Found | undefined): readonly Found[] => {
  const found: Found[] = [];
  void reader.walkTokens(tokens.get(path) ?? [], (token) => {
    const each = find(token);
    if (each !== undefined) found.push(each);
  });
  return found;
};
/** Code in backticks, and blocks of code. */
const codeIn = (path: string): readonly string[] =>
  collected(path, (token) =>
    token.type === 'codespan' || token.type === 'code' ? (token.text as string) : undefined,
  );

/** The whole repository, apart from this test. */
const SOURCES = globSync('{*,*/**/*}.{ts,mjs,js,json,sh,py,conf,yml,env,service,sql,example}', {
  cwd: ROOT,
  exclude: ['**/node_modules/**', 'site/texts.test.ts'],
})
  .concat('.env.example')
  .map(read)
  .join('\n');

test('every link in the texts leads to an existing file and heading', () => {
  const broken = TEXTS.flatMap((path) => {
    const links = collected(path, (token) =>
      token.type === 'link' || token.type === 'image' ? (token.href as string) : undefined,
    );
    return links
      .filter((href) => !/^(?:https?|mailto):/.test(href) && !isThere(path, href))
      .map((href) => `${path} → ${href}`);
  });
  expect(broken).toEqual([]);
});

const isThere = (from: string, href: string): boolean => {
  const [path = '', anchor] = href.split('#', 2);
  const target = path === '' ? from : posix.join(dirname(from), path);
  if (!existsSync(join(ROOT, target))) return false;
  return anchor === undefined || [...anchorsOf(tokens.get(target) ?? []).values()].includes(anchor);
};

test('every setting that the texts name exists, or is a name in another file', () => {
  const unknown = TEXTS.flatMap((path) => {
    const names = codeIn(path).flatMap((code) => code.match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g) ?? []);
    const isKnown = (name: string): boolean =>
      Object.hasOwn(SETTINGS, name) ||
      Object.hasOwn(SETTINGS, name.replace(/_FILE$/, '')) ||
      SOURCES.includes(name);
    return names.filter((name) => !isKnown(name)).map((name) => `${path}: ${name}`);
  });
  expect(unknown).toEqual([]);
});

test('every metric that the texts name exists', () => {
  const kept = [...SOURCES.matchAll(/'(annals_[a-z0-9_]+)'/g)].map(([, name = '']) => name);
  const unknown = TEXTS.flatMap((path) =>
    codeIn(path)
      .flatMap((code) => code.match(/\bannals_[a-z0-9_]+/g) ?? [])
      .filter((name) => !kept.includes(name.replace(/_(?:bucket|count|sum)$/, '')))
      // A prefix with an underscore names a family.
      .filter((name) => !(name.endsWith('_') && kept.some((each) => each.startsWith(name))))
      .map((name) => `${path}: ${name}`),
  );
  expect(unknown).toEqual([]);
});

test('every command that the texts name is one of `annals`', async () => {
  const called = TEXTS.flatMap((path) =>
    codeIn(path).flatMap((code) =>
      [
        ...code.matchAll(
          /(?:\bnpm run (?:-s )?annals --|\bannals\.ts|^annals) ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?\b(?! \d)/g,
        ),
      ].map(([, first = '', second]) => ({
        path,
        words: [first, ...(second === undefined ? [] : [second])],
      })),
    ),
  );
  expect(called.length).toBeGreaterThan(30);
  const unknown: string[] = [];
  for (const { path, words } of called)
    if (!(await isCommand(words))) unknown.push(`${path}: annals ${words.join(' ')}`);
  expect(unknown).toEqual([]);
});

type Terminal = Parameters<typeof runCommandLine>[1];
const terminal = {
  domain: withParts(publishing, PART_NAMES),
  write: () => undefined,
  complain: () => undefined,
} as unknown as Terminal;

/** The second word may be an argument. */
const isCommand = async (words: readonly string[]): Promise<boolean> => {
  for (const each of [words, words.slice(0, 1)])
    if ((await runCommandLine(['help', ...each], terminal)) === 0) return true;
  return false;
};

test('every npm script that the texts run is in package.json, in that of the benchmarks, or in that of a new project', () => {
  const own = ['package.json', 'bench/package.json'].map(
    (path) => (JSON.parse(read(path)) as { scripts: Record<string, string> }).scripts,
  );
  const scripts = [...own, SCRIPTS];
  const unknown = TEXTS.flatMap((path) =>
    codeIn(path)
      .flatMap((code) => [...code.matchAll(/\bnpm run (?:-s )?([\w:-]+)/g)].map(([, name = '']) => name))
      .filter((name) => !scripts.some((each) => Object.hasOwn(each, name)))
      .map((name) => `${path}: ${name}`),
  );
  expect(unknown).toEqual([]);
});

const FOLDERS =
  'adapters|auth|bench|command|command-line|console|deploy|docs|edge|kernel|process|projector|proof|query|scripts|shared|site|test|webhook-dispatcher';

test('every file and folder that the texts name exists', () => {
  const missing = TEXTS.filter((path) => path !== 'CHANGELOG.md').flatMap((path) =>
    codeIn(path)
      .filter((code) => new RegExp(`^(?:${FOLDERS})/[\\w./-]*$`).test(code))
      .filter((code) => !existsSync(join(ROOT, code)))
      .map((code) => `${path}: ${code}`),
  );
  expect(missing).toEqual([]);
});
