import { readdirSync } from 'node:fs';
import { parse } from 'node:path';
import { expect, test, vi } from 'vitest';
import { differencesOf } from '../../command-line/domain/contract/differences.ts';
import { printedJson } from '../../command-line/domain/contract/printed-json.ts';
import { expectRecorded, FOLDER } from './expect-recorded.ts';

test('each recorded file belongs to a test of its name', () => {
  const tests = new Set(readdirSync(new URL('.', import.meta.url)).map((file) => file.split('.')[0]));
  const recorded = readdirSync(FOLDER);
  expect(recorded.length).toBeGreaterThan(0);
  expect(recorded.filter((file) => !tests.has(parse(file).name))).toEqual([]);
});

test('JSON is compared by parts, whatever the order of its keys', () => {
  const before = printedJson({
    paths: { '/articles': { parameters: [{ name: 'tag' }, { name: 'q' }], limit: 5 } },
  });
  expect(
    printedJson({ paths: { '/articles': { limit: 5, parameters: [{ name: 'tag' }, { name: 'q' }] } } }),
  ).toBe(before);
  const after = printedJson({
    paths: { '/articles': { parameters: [{ name: 'more' }, { name: 'tag' }, { name: 'q' }], limit: 6 } },
  });
  expect(differencesOf('any.json', before, after)).toEqual([
    '- paths./articles.limit = 5',
    '+ paths./articles.limit = 6',
    '+ paths./articles.parameters[].name = "more"',
  ]);
  const turned = printedJson({
    paths: { '/articles': { parameters: [{ name: 'q' }, { name: 'tag' }], limit: 5 } },
  });
  expect(differencesOf('any.json', before, turned)).toEqual(['the same lines in another order']);
});

test('text is compared by parts', () => {
  const before = 'type Post {\n  id: ID!\n  title: String!\n}\n\ntype User {\n  id: ID!\n}\n';
  expect(
    differencesOf('any.graphql', before, before.replace('  title: String!\n', '  name: String\n')),
  ).toEqual(['+ type Post {: name: String', '- type Post {: title: String!']);
});

test('a failure names the difference and the remedy', ({ onTestFinished }) => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('WRITE_CONTRACT', undefined);
  const expectation = () => expectRecorded('links.json', '{}\n');
  expect(expectation).toThrow('- article: a draft.an administrator.author = "GET /users/{id}"\n');
  expect(expectation).toThrow(
    'list it in CHANGELOG.md with the reason and record the contract: npm run contract:record',
  );
});
