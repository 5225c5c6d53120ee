import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import { describe, expect } from 'vitest';
import { scaled } from '../testing/load.ts';
import { test as base } from './engines/installation-fixture.ts';

/** The code of docs/languages.md is generated, compiled and run here, against a running system. */
const ROOT = fileURLToPath(new URL('../', import.meta.url));
const PAGE = readFileSync(`${ROOT}docs/languages.md`, 'utf8');
const CACHE = join(ROOT, 'node_modules/.cache/languages');
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;
const run = promisify(execFile);

type Block = { readonly language: string; readonly after: string; readonly text: string };
const BLOCKS: readonly Block[] = [...PAGE.matchAll(/^```(\S+)(?: (\S+))?\n(.*?)^```$/gms)].map(
  ([, language = '', after = '', text = '']) => ({ language, after, text }),
);
const commandsOf = (language: string) =>
  BLOCKS.filter((block) => block.language === 'sh' && block.after === language);

type Language = {
  readonly name: 'python' | 'go' | 'java';
  /** Each exits with 0 if it is installed. */
  readonly needs: readonly (readonly [command: string, ...args: string[]])[];
  readonly title: string;
};
const LANGUAGES: readonly Language[] = [
  {
    name: 'python',
    title: 'From Python',
    needs: [['python3', '-c', 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))']],
  },
  // A version with support for tools of a module.
  { name: 'go', title: 'From Go', needs: [['sh', '-c', 'cd / && go help tool | grep -q "go.mod\\|module"']] },
  {
    name: 'java',
    title: 'From Java',
    needs: [
      ['javac', '--release', '17', '-version'],
      ['mvn', '-version'],
    ],
  },
];

/** The error of a tool that cannot download its dependencies. */
const NO_REGISTRY =
  /No matching distribution|NewConnectionError|Temporary failure in name resolution|dial tcp|no such host|proxyconnect|Could not transfer artifact|Cannot access \w+ in offline mode|Unknown host/;

const missingOf = ({ needs }: Language): string | undefined =>
  needs.find(([command, ...args]) => spawnSync(command, args).status !== 0)?.join(' ');

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
        run(
          'bash',
          ['-euo', 'pipefail', '-c', commands.replaceAll('http://localhost:4000', installation.origin)],
          {
            cwd: folder,
            env: {
              ...process.env,
              ANNALS_URL: installation.origin,
              TOKEN: await tokenOfAuthor(),
              PATH: `${ROOT}node_modules/.bin:${process.env.PATH}`,
            },
            maxBuffer: OUTPUT_BYTES_MAX,
          },
        ),
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
    for (const { language, after, text } of BLOCKS) {
      if (language === 'sh' || after === '') continue;
      const path = join(folder, after);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
    }
    // The page starts a new module, without code generated from an older description.
    for (const each of ['go.mod', 'go.sum', 'target', 'rest', 'graphql', 'annals_rest', 'annals_graphql'])
      await rm(join(folder, each), { recursive: true, force: true });
    return folder;
  });

describe.each(LANGUAGES)('$name', (language) => {
  const missing = missingOf(language);
  if (missing !== undefined)
    console.warn(`The clients in ${language.name} are not generated: “${missing}” fails here.`);

  test.skipIf(missing !== undefined)(
    'generated code compiles, creates an article, and reads it by REST and by GraphQL',
    async ({ lay, skip, type }) => {
      const { name, title } = language;
      const folder = await lay(name);
      let printed = '';
      for (const { text } of commandsOf(name)) {
        try {
          printed += (await type(folder, text)).stdout;
        } catch (error) {
          const [why = ''] = NO_REGISTRY.exec(String(error)) ?? [];
          if (why === '') throw error;
          console.warn(`The clients in ${name} are not generated: their tools cannot be installed (${why}).`);
          skip(why);
        }
      }
      const lines = stripVTControlCharacters(printed).split('\n');
      const found = lines.filter((line) => line.includes(title));
      expect(found).toEqual([
        expect.stringMatching(`^REST: ${title}, by .+$`),
        expect.stringMatching(`^GraphQL: ${title}, by .+$`),
      ]);
    },
    scaled(600_000),
  );
});

test('the page shows no file twice, and a client for each language', () => {
  const files = BLOCKS.flatMap(({ language, after }) => (language === 'sh' || after === '' ? [] : [after]));
  expect(new Set(files).size).toBe(files.length);
  expect(LANGUAGES.map(({ name }) => commandsOf(name).length)).not.toContain(0);
});
