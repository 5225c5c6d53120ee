import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { findMentions } from './domain-names.ts';

const root = join(import.meta.dirname, '..');
const PRODUCTION = [
  '*.ts',
  '{command,query,projector,auth,webhook-dispatcher,proof,command-line,console,site,adapters,edge,process,shared,kernel}/**/*.{ts,js,css,graphql,sql}',
];

/** Where names of publishing are allowed, and why; each such line matches the pattern. */
const EXCEPTIONS: readonly (readonly [path: RegExp, lines: RegExp, why: string])[] = [
  [/\.(?:ts|sql)$/, /\bcomment on (?:schema|table|column)\b/, 'SQL’s own word.'],
  [
    /^shared\/rest\/export-line\.ts$/,
    /examples:/,
    'Examples in `/openapi.json`, of a schema that no domain makes.',
  ],
  [
    /^auth\/persons\/migrations\/000[12]-/,
    /check \(role in/,
    'Migrations are history; a later one takes the check away.',
  ],
  [/^webhook-dispatcher\/ledger\/000[13]-/, /./, 'Migrations are history.'],
  [/^kernel\/webhook\/webhook\.ts$/, /article|comment/, 'Golden examples of events of webhooks.'],
  [/^site\/style\/code\.css$/, /\.hljs-comment/, 'A class of the highlighter.'],
  [/^kernel\/webhook\/webhook-fields\.ts$/, /article/, 'A sentence of a refusal.'],
  [
    /^(?:command-line\/sketch-given|console\/app\/develop\/new-aggregate)\.ts$/,
    /author/,
    'The name of the owner that a new aggregate gets, as in the template.',
  ],
  [/^shared\/read-log\//, /reader/, 'The user who has read something, of any domain.'],
];

const read = (paths: readonly string[]) =>
  new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));

test('no file that runs names an aggregate, a field or a role of the domain', () => {
  const paths = globSync(PRODUCTION, { cwd: root }).filter((path) => !path.endsWith('.test.ts'));
  expect(paths.length).toBeGreaterThan(500);
  const mentions = findMentions(publishing, read(paths));
  const isExcepted = ({ path, text }: (typeof mentions)[number]) =>
    EXCEPTIONS.some(([file, lines]) => file.test(path) && lines.test(text));
  expect(mentions.filter((mention) => !isExcepted(mention))).toEqual([]);
  for (const [file, lines, why] of EXCEPTIONS)
    expect(
      mentions.some(({ path, text }) => file.test(path) && lines.test(text)),
      `nothing is left of: ${why} (${file})`,
    ).toBe(true);
});

test.each([
  ['a kind', `const kinds = ['user', 'article'];`],
  ['a kind within a name', 'const articleId = 1;'],
  ['a kind at the end of a name', 'const listOfComments = 1;'],
  ['a column', 'select filter_article_id from t'],
  ['a path', 'GET /articles/1'],
  ['a type of event', `type === 'comment.added'`],
  ['a list of GraphQL', 'query { x: PostConnection }'],
  ['a field that refers to a user', 'const { authorId } = data;'],
  ['a field of several words', 'order by publishedAt'],
  ['a role', `role === 'reader'`],
])('%s is found', (_, source) => {
  expect(findMentions(publishing, new Map([['query/x.ts', source]]))).toHaveLength(1);
});

test.each([
  ['a comment', '/** Such as an article. */\n  // or its author\nconst x = 1; // article'],
  ['a word that only looks like one', `const particle = 'commentary'; app.post('/x');`],
  ['a role in another sense', 'const author = readFile(path);'],
])('%s is not one', (_, source) => {
  expect(findMentions(publishing, new Map([['query/x.ts', source]]))).toEqual([]);
});

test('SQL, GraphQL and configurations have no names of the domain outside of comments', () => {
  const sources = { 'x.sql': '-- an article', 'x.graphql': '# an article', 'x.conf': '# an article' };
  expect(findMentions(publishing, new Map(Object.entries(sources)))).toEqual([]);
});
