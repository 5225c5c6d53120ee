import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { SETTINGS } from '#process/settings.ts';
import { GROUPS } from '../command-line/commands.ts';
import {
  commentsIn,
  notesIn,
  refusedIn,
  sentencesIn,
  type Text,
  textsOfGraphql,
  textsOfOpenApi,
  textsOfPage,
} from './plain-words.ts';

const ROOT = new URL('..', import.meta.url).pathname;
const find = (pattern: string): readonly string[] =>
  globSync(pattern, {
    cwd: ROOT,
    exclude: ['**/node_modules/**', 'dist/**', 'test/plain-words*'],
  }).toSorted();

const settings = (): readonly Text[] =>
  Object.entries(SETTINGS).map(([place, { description }]) => ({ place, text: description }));
const COMMANDS = await Promise.all(
  GROUPS.flatMap((group) => [...group.commands.values()].map(({ load }) => load())),
);
const commands = (): readonly Text[] => [
  ...GROUPS.map(({ name, summary }) => ({ place: `annals help ${name}`, text: summary })),
  ...COMMANDS.flatMap(({ name, summary, options }) =>
    [summary, ...Object.values(options).map(({ description }) => description)].map((text) => ({
      place: `annals ${name}`,
      text,
    })),
  ),
];

type Alerts = {
  readonly groups: readonly {
    readonly rules: readonly { readonly annotations?: { readonly summary?: string } }[];
  }[];
};
const alerts = (): readonly Text[] => {
  const { groups } = parse(readFileSync(`${ROOT}deploy/prometheus/alerts.yml`, 'utf8')) as Alerts;
  return groups
    .flatMap(({ rules }) => rules)
    .map(({ annotations }) => ({ place: 'alerts.yml', text: annotations?.summary ?? '' }));
};

describe('texts are written in plain words', () => {
  test.each([
    ['the OpenAPI document', textsOfOpenApi],
    ['the schema of GraphQL', textsOfGraphql],
    ['settings', settings],
    ['the help of the command line', commands],
    ['alerts', alerts],
  ])('%s', (_, texts) => {
    expect(texts().length).toBeGreaterThan(10);
    expect(refusedIn(texts(), 'interfaces')).toEqual([]);
  });

  test('pages of the documentation', () => {
    const pages = [...find('docs/*.md'), 'README.md'];
    expect(refusedIn(pages.flatMap(textsOfPage), 'texts')).toEqual([]);
  });

  test('messages in the sources', () => {
    // The articles of the demo are told by journalists.
    const sources = find('{*,*/**/*}.ts').filter(
      (path) => !/^(?:test|bench|domain\/demo)\/|\.test\.ts$/.test(path),
    );
    const sentences = sources.flatMap(sentencesIn);
    expect(sentences.length).toBeGreaterThan(3_000);
    expect(refusedIn(sentences, 'texts')).toEqual([]);
  });

  test('comments in the files of a deployment', () => {
    const files = find(
      '{.env.example,Dockerfile,docker-*.{yml,hcl},deploy/{*,**/*}.{conf,env,service,sh,yml,yaml}}',
    );
    const notes = files.flatMap(notesIn);
    expect(notes.length).toBeGreaterThan(150);
    expect(refusedIn(notes, 'texts')).toEqual([]);
  });

  test('comments', () => {
    const comments = find('{*,*/**/*}.ts').flatMap(commentsIn);
    expect(comments.length).toBeGreaterThan(5_000);
    expect(refusedIn(comments, 'comments')).toEqual([]);
  });
});

describe('the check', () => {
  const refused = (text: string, kind: 'interfaces' | 'texts' | 'comments') =>
    refusedIn([{ place: 'here', text }], kind).length;

  test.each([
    ['What became of it.', 'interfaces', 1],
    ['The state of the delivery. Whoever may read it sees it.', 'interfaces', 1],
    ['What does it cost?', 'interfaces', 0],
    ['What became of it.', 'comments', 1],
    ['The owner is told so.', 'texts', 1],
    ['The owner is told so.', 'comments', 0],
    ['It comes to an end.', 'texts', 0],
    ['It holds the copy against the log.', 'texts', 1],
    ['12 ms in all, of which 4 ms in the log.', 'interfaces', 0],
    ['The list as of then.', 'comments', 1],
  ] as const)('“%s” among %s is refused %i times', (text, kind, times) => {
    expect(refused(text, kind)).toBe(times);
  });

  test('names the place and the reason', () => {
    expect(refusedIn([{ place: 'GET /articles', text: 'It is told.' }], 'texts')).toEqual([
      'GET /articles: “is told”: it hides who does it, and has five meanings: delivers, returns, shows, reports, says.\n  It is told.',
    ]);
  });
});
