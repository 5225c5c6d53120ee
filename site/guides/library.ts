import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A text of `docs/`, as written. */
export type Guide = { readonly name: string; readonly title: string; readonly text: string };

type Shelf = { readonly title: string; readonly guides: readonly Guide[] };

const ROOT = new URL('../../', import.meta.url);
const DOCS = new URL('docs/', ROOT);

/** The path of a new reader first, then reference by task. Texts that are not listed come last. */
const SHELVES: readonly (readonly [title: string, names: readonly string[]])[] = [
  ['Start: fifteen minutes', ['tutorial']],
  ['Your domain: an hour', ['domain', 'grow-domain', 'project', 'coming-from']],
  ['In production', ['deployment', 'kubernetes', 'security', 'backup', 'operations', 'runbooks', 'upgrade']],
  [
    'Reference: use it',
    [
      'rest',
      'graphql',
      'aggregates',
      'changes',
      'webhooks',
      'client',
      'client-reference',
      'browser',
      'tanstack',
      'languages',
      'agents',
      'accounts',
      'identity-providers',
      'console',
      'import',
    ],
  ],
  [
    'Reference: declare it',
    [
      'declaration',
      'conditions',
      'lists',
      'files',
      'limits',
      'reads',
      'reactions',
      'schedules',
      'views',
      'inbox',
      'retention',
      'signatures',
      'read-log',
      'evolve',
      'own-routes',
    ],
  ],
  [
    'Reference: run it',
    ['settings', 'command-line', 'parts', 'postgresql', 'scaling', 'overload', 'performance'],
  ],
  ['Trust it', ['audit', 'history', 'erasure', 'export', 'guarantees', 'auditors', 'comparison']],
  [
    'Understand it',
    ['glossary', 'architecture', 'mechanisms', 'dependencies', 'contributing', 'planted', 'chaos'],
  ],
];
const REST_TITLE = 'More';

export const CHANGELOG = 'changelog';

const TITLE = /^# (.+)$/m;

export const readShelves = (): readonly Shelf[] => {
  const guides = new Map(
    namesIn(DOCS, '.md').map((name) => [name, readGuide(name, new URL(`${name}.md`, DOCS))]),
  );
  const shelves = SHELVES.map(([title, names]) => ({
    title,
    guides: names.flatMap((name) => guides.get(name) ?? []),
  }));
  const shelved = new Set(SHELVES.flatMap(([, names]) => names));
  const others = [...guides.values()].filter(({ name }) => !shelved.has(name));
  return [
    ...shelves,
    { title: REST_TITLE, guides: [...others, readGuide(CHANGELOG, new URL('CHANGELOG.md', ROOT))] },
  ];
};

const readGuide = (name: string, url: URL): Guide => {
  const text = readFileSync(url, 'utf8');
  const [, title] = TITLE.exec(text) ?? [];
  if (title === undefined) throw new Error(`${url.pathname} has no title`);
  return { name, title, text };
};

/** A program of `docs/examples`, as tested. */
export type Example = { readonly name: string; readonly text: string };

export const readExamples = (): readonly Example[] => {
  const folder = new URL('examples/', DOCS);
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const names = entries.map(({ parentPath, name }) =>
    relative(fileURLToPath(folder), join(parentPath, name)).replaceAll('\\', '/'),
  );
  return names.toSorted().map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }));
};

const namesIn = (folder: URL, ending: string): readonly string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, name.length - ending.length))
    .toSorted();
