import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import { describe, expect } from 'vitest';
import { scaled } from '../testing/load.ts';
import { LANGUAGES, missingOf, NO_REGISTRY } from './engines/client-generators.ts';
import { test as base } from './engines/installation-fixture.ts';
import { loopsOver, OF_EXPENSES } from './engines/obvious-code.ts';

/**
 * The code of docs/languages.md, and of the files that its readers copy, is generated, compiled and run here,
 * against a running system.
 */
const ROOT = fileURLToPath(new URL('../', import.meta.url));
const PAGE = readFileSync(`${ROOT}docs/languages.md`, 'utf8');
const COPIED = `${ROOT}docs/examples/newsroom`;
const CACHE = join(ROOT, 'node_modules/.cache/languages');
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;
const run = promisify(execFile);

type Block = { readonly language: string; readonly after: string; readonly text: string };
const BLOCKS: readonly Block[] = [...PAGE.matchAll(/^```(\S+)(?: (\S+))?\n(.*?)^```$/gms)].map(
  ([, language = '', after = '', text = '']) => ({ language, after, text }),
);
const commandsOf = (language: string) =>
  BLOCKS.filter((block) => block.language === 'sh' && block.after === language);

const GENERATED = ['go.mod', 'go.sum', 'target', 'rest', 'graphql', 'annals_rest', 'annals_graphql', 'sdk'];
/** Programs of publishing. */
const PROGRAMS = ['called.ts', 'newsroom.py', 'src', 'target', 'annals_rest'];

/** Tools print their errors to either stream. */
const printedBy = async (
  commands: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<string> => {
  const path = `${ROOT}node_modules/.bin:${process.env.PATH}`;
  const options = { cwd, env: { ...process.env, ...env, PATH: path }, maxBuffer: OUTPUT_BYTES_MAX };
  try {
    return (await run('bash', ['-euo', 'pipefail', '-c', commands], options)).stdout;
  } catch (error) {
    const { stdout } = error as { readonly stdout?: string };
    throw new Error(`${String(error)}\n${stdout}`, { cause: error });
  }
};

const test = base
  /** A token lives five minutes, and a compiler takes longer on a busy machine. */
  .extend('tokenOfAuthor', { scope: 'file' }, async ({ people }) => {
    const service = await people.registerService('author');
    return async () => (await people.tokenOf(service)).token;
  })
  .extend(
    'type',
    { scope: 'file' },
    ({ installation, tokenOfAuthor }) =>
      async (folder: string, commands: string) =>
        printedBy(commands.replaceAll('http://localhost:4000', installation.origin), folder, {
          ANNALS_URL: installation.origin,
          TOKEN: await tokenOfAuthor(),
        }),
  )
  /** Files that the page's readers fetch first. */
  .extend('shared', { scope: 'file' }, async ({ type }) => {
    const folder = join(CACHE, 'shared');
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    for (const { text } of commandsOf('')) await type(folder, text);
    return folder;
  })
  /** A folder for one language, with all files of the page. Dependencies installed by an earlier run stay. */
  .extend('lay', { scope: 'file' }, ({ shared }) => async (name: string): Promise<string> => {
    const folder = join(CACHE, name);
    await mkdir(folder, { recursive: true });
    await cp(shared, folder, { recursive: true });
    await cp(COPIED, folder, { recursive: true });
    for (const { language, after, text } of BLOCKS) {
      if (language === 'sh' || after === '') continue;
      const path = join(folder, after);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
    }
    // The page starts a new module, without code generated from an older description.
    for (const each of GENERATED) await rm(join(folder, each), { recursive: true, force: true });
    return folder;
  });

describe.each(LANGUAGES)('$name', (language) => {
  const { name, titles, compile } = language;
  const missing = missingOf(language);
  if (missing !== undefined)
    console.warn(`The clients in ${name} are not generated: “${missing}” fails here.`);

  test.skipIf(missing !== undefined)(
    'generated code compiles, also for another domain, creates an article, and reads it',
    async ({ lay, skip, type }) => {
      const folder = await lay(name);
      let printed = '';
      for (const { text } of commandsOf(name)) {
        try {
          printed += await type(folder, text);
        } catch (error) {
          const [why = ''] = NO_REGISTRY.exec(String(error)) ?? [];
          if (why === '') throw error;
          console.warn(`The clients in ${name} are not generated: their tools cannot be installed (${why}).`);
          skip(why);
        }
      }
      const lines = [...new Set(stripVTControlCharacters(printed).split('\n'))];
      for (const [title, interfaces] of Object.entries(titles))
        expect(lines.filter((line) => line.includes(title))).toEqual([
          `Read: ${title}`,
          ...interfaces.map((each) => expect.stringMatching(`^${each}: ${title}, by .+$`) as string),
        ]);

      for (const each of PROGRAMS) await rm(join(folder, each), { recursive: true, force: true });
      await writeFile(join(folder, 'openapi.json'), JSON.stringify(OF_EXPENSES));
      await writeFile(join(folder, 'typed.ts'), loopsOver(OF_EXPENSES));
      await type(folder, compile);
    },
    scaled(600_000),
  );
});

test('the page shows or links each file once, and a client for each language', () => {
  const shown = BLOCKS.flatMap(({ language, after }) => (language === 'sh' || after === '' ? [] : [after]));
  const linked = [...PAGE.matchAll(/\(examples\/newsroom\/([^)]+)\)/g)].map(([, file = '']) => file);
  const copied = readdirSync(COPIED, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(COPIED, join(parentPath, name)));
  expect(linked.toSorted()).toEqual(copied.toSorted());
  const files = [...shown, ...linked];
  expect(new Set(files).size).toBe(files.length);
  expect(LANGUAGES.map(({ name }) => commandsOf(name).length)).not.toContain(0);
});
