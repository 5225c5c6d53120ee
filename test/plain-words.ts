import { readFileSync } from 'node:fs';

/**
 * Where a pattern is refused: in the texts of interfaces, in these and in the documentation, or in comments
 * as well.
 */
type Reach = 'interfaces' | 'texts' | 'comments';

type Pattern = {
  readonly name: string;
  readonly found: RegExp;
  readonly reach: Reach;
  readonly because: string;
};

/**
 * Phrases that came back most often, each with the reason. The glossary in docs/contributing.md has the words
 * to use instead.
 */
const PATTERNS: readonly Pattern[] = [
  {
    name: 'a sentence that begins with “What” or “Who” and is no question',
    found: /(?:^|[.;:] )(?:What|Whoever|Who) [a-z][^?]*$/m,
    reach: 'comments',
    because:
      'a reader looks for the thing at the beginning: “Deleted users have no rights”, not “Who is gone has none”',
  },
  {
    name: 'is told',
    found: /\b(?:is|are|be|was|were|been) told\b/,
    reach: 'texts',
    because: 'it hides who does it, and has five meanings: delivers, returns, shows, reports, says',
  },
  {
    name: 'comes to',
    found: /\b(?:comes?|came) to (?!an end)/,
    reach: 'texts',
    because: 'write equals, becomes, or goes to',
  },
  { name: 'anew', found: /\banew\b/, reach: 'texts', because: 'write again, retry, rebuild, or restart' },
  {
    name: 'held against',
    found: /\bheld against\b|\bholds? [^.|]{1,40} against\b/,
    reach: 'texts',
    because: 'write compare with',
  },
  { name: 'may know of', found: /\bmay know of\b/, reach: 'texts', because: 'write may read, or visible to' },
  {
    name: 'of which',
    found: /\bof which\b(?! \d|\]?\()/,
    reach: 'interfaces',
    because: 'write two sentences',
  },
  {
    name: 'stands still',
    found: /\bstands? still\b/,
    reach: 'texts',
    because: 'write parked, or does not move',
  },
  {
    name: 'as of then',
    found: /\bas of then\b/,
    reach: 'comments',
    because: 'write at that time, or time travel',
  },
  { name: 'gone on with', found: /\b(?:is|are) gone on with\b/, reach: 'comments', because: 'write resumes' },
  { name: 'for good', found: /\bfor good\b(?! reason)/, reach: 'comments', because: 'write permanently' },
  { name: 'all the same', found: /\ball the same\b/, reach: 'comments', because: 'write anyway' },
  {
    name: 'so many, without a number',
    found: /\b[Ss]o many\b(?!.*\bthat\b)/,
    reach: 'comments',
    because: 'name the number: “the maximum number”, “`count` events”',
  },
  { name: 'taken in', found: /\btaken? in\b/, reach: 'texts', because: 'write applied, or read' },
  { name: 'in the works', found: /\bin the works\b/, reach: 'comments', because: 'write in progress' },
];

/** A text, and where somebody finds it. */
export type Text = { readonly place: string; readonly text: string };

const REACHES: readonly Reach[] = ['comments', 'texts', 'interfaces'];

/** Every phrase that is refused in texts of this kind, with its place and the reason. */
export const refusedIn = (texts: readonly Text[], kind: Reach): readonly string[] => {
  const patterns = PATTERNS.filter(({ reach }) => REACHES.indexOf(reach) <= REACHES.indexOf(kind));
  return texts.flatMap(({ place, text }) =>
    patterns
      .filter(({ found }) => found.test(text))
      .map(({ name, because }) => `${place}: “${name}”: ${because}.\n  ${text}`),
  );
};

/** The summaries and descriptions of the recorded OpenAPI document. */
export const textsOfOpenApi = (): readonly Text[] => [
  ...textsIn(JSON.parse(read('test/contract/recorded/openapi.json')), 'openapi.json'),
];

const TEXTS: ReadonlySet<string> = new Set(['summary', 'description', 'title']);

function* textsIn(value: unknown, place: string): Generator<Text> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, each] of Object.entries(value)) {
    if (typeof each === 'string' && TEXTS.has(key)) yield { place: `${place} ${key}`, text: each };
    else
      yield* textsIn(each, key.startsWith('/') || place === 'openapi.json' ? `openapi.json ${key}` : place);
  }
}

const QUOTED = /^\s*"""\s*([\s\S]*?)\s*"""|^\s*"([^"\n]+)"$/gm;

/** The descriptions of the recorded schema of GraphQL. */
export const textsOfGraphql = (): readonly Text[] =>
  [...read('domain/contract/schema.graphql').matchAll(QUOTED)].map(([, long, short]) => ({
    place: 'schema.graphql',
    text: long ?? short ?? '',
  }));

/** The paragraphs of a page without its code. */
export const textsOfPage = (path: string): readonly Text[] =>
  read(path)
    .replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((text) => ({ place: path, text }));

const COMMENT = /\/\*\*?([\s\S]*?)\*\/|(?<=^|\s)\/\/ (.*)$/gm;

export const commentsIn = (path: string): readonly Text[] =>
  [...read(path).matchAll(COMMENT)].map(([, long, short]) => ({
    place: path,
    text: (long ?? short ?? '').replaceAll(/\n\s*\* ?/g, ' ').trim(),
  }));

/** The comments of a file in which `#` begins them. */
export const notesIn = (path: string): readonly Text[] =>
  [...read(path).matchAll(/(?<=^|\s)# (.*)$/gm)].map(([, text = '']) => ({ place: path, text }));

const LITERAL = /(?<![\w`])'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g;
const SQL = /^\s*(?:select|insert|with|update|delete|create|alter)\b/;
const WORDS_OF_SENTENCE = 4;

/** The literals that are sentences: messages, descriptions, and helps of metrics. */
export const sentencesIn = (path: string): readonly Text[] =>
  [...read(path).replaceAll(COMMENT, '').matchAll(LITERAL)]
    .map(([, single, template]) => ({ place: path, text: single ?? template ?? '' }))
    .filter(({ text }) => !SQL.test(text) && (text.match(/[a-z]+\b/g) ?? []).length >= WORDS_OF_SENTENCE);

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
