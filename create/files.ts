import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { anotherThan } from './names.ts';

/** The files of a new project: the texts by path. */
export type Files = Readonly<Record<string, string>>;

const TEMPLATE = fileURLToPath(new URL('./template/', import.meta.url));
/** With slashes, as the patterns below expect, also on Windows. */
export const slashed = (path: string): string => path.replaceAll('\\', '/');
/** npm excludes files with these names from a package. */
const NAMES = { gitignore: '.gitignore', dockerignore: '.dockerignore' };
const OF_AGGREGATE = /^domain\/note(?:\.test)?\.ts$/;
const OF_DOMAIN = /^domain\//;

type Wanted = { readonly aggregate: string; readonly project: string };

const filled = (text: string, { aggregate, project }: Wanted): string => {
  const words = aggregate.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).split(' ');
  return text
    .replaceAll('note_', `${words.join('_')}_`)
    .replaceAll('/notes', `/${words.join('-')}s`)
    .replaceAll(/\bnote\b/g, aggregate)
    .replaceAll('my-app', project)
    .replaceAll('new aggregate invoice', `new aggregate ${anotherThan(aggregate)}`);
};

/** The path of a template file in a project. */
export const pathInProject = (path: string, aggregate: string): string =>
  Object.hasOwn(NAMES, path) ? NAMES[path as keyof typeof NAMES] : path.replace('/note.', `/${aggregate}.`);

const read = async (isWanted: (path: string) => boolean, wanted: Wanted): Promise<Files> => {
  const entries = await readdir(TEMPLATE, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => slashed(relative(TEMPLATE, join(entry.parentPath, entry.name))));
  const texts = paths
    .filter(isWanted)
    .map(
      async (path) =>
        [
          pathInProject(path, wanted.aggregate),
          filled(await readFile(join(TEMPLATE, path), 'utf8'), wanted),
        ] as const,
    );
  return Object.fromEntries(await Promise.all(texts));
};

/** The words that the template's files already use. */
export const wordsOfTemplate = async (): Promise<ReadonlySet<string>> => {
  const texts = Object.values(
    await read((path) => OF_DOMAIN.test(path), { aggregate: 'note', project: 'my-app' }),
  );
  return new Set(texts.flatMap((text) => text.match(/\w+/g) ?? []).filter((word) => word !== 'note'));
};

export const isOfAggregate = (path: string): boolean => OF_AGGREGATE.test(path);

export const filesOfAggregate = (aggregate: string): Promise<Files> =>
  read(isOfAggregate, { aggregate, project: 'my-app' });

type Needed = Record<'dependencies' | 'devDependencies', Files> & {
  /** The packages whose installation scripts npm may run. */
  readonly allowScripts: Readonly<Record<string, boolean>>;
};

const RUN = {
  // On a machine with much memory, V8 keeps up to 128 MB for new objects alone.
  start: 'node --max-semi-space-size=8 main.ts',
  dev: 'node --max-semi-space-size=8 main.ts dev',
  annals: 'node main.ts',
  token: 'node main.ts token',
  test: 'node --test',
  'test:domain': 'node --test describe-domain.ts',
  secrets: 'node secrets.ts',
};
/** The npm scripts of a project; an older Node would not explain why it cannot run them. */
export const SCRIPTS = {
  ...Object.fromEntries(Object.keys(RUN).map((script) => [`pre${script}`, 'node demand-node.mjs'])),
  ...RUN,
  check: 'tsc',
} as const;

/** `needed`: packages beside those of the template. */
export const filesOfProject = async (wanted: Wanted, needed: Needed): Promise<Files> => {
  const manifest = {
    name: wanted.project,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: { node: '>=22.18' },
    scripts: SCRIPTS,
    ...needed,
  };
  return { 'package.json': `${JSON.stringify(manifest, null, 2)}\n`, ...(await read(() => true, wanted)) };
};
