import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { withGraphqlTables } from '../scripts/reference/graphql-tables.ts';
import { readDeclarations, referenceOf, settingsPage } from '../scripts/write-reference.ts';

const sources = readDeclarations();
const but = (file: string, part: string, other: string) => {
  const text = sources[file] ?? '';
  expect(text).toContain(part);
  return { ...sources, [file]: text.replace(part, other) };
};

test('docs/declaration.md has every option of declarations: npm run reference writes it', () => {
  expect(readFileSync(new URL('../docs/declaration.md', import.meta.url), 'utf8')).toBe(referenceOf(sources));
});

test('docs/settings.md has every setting: npm run reference writes it', () => {
  expect(readFileSync(new URL('../docs/settings.md', import.meta.url), 'utf8')).toBe(settingsPage());
});

test('docs/graphql.md has the limits and costs of the code: npm run reference writes them', () => {
  const page = readFileSync(new URL('../docs/graphql.md', import.meta.url), 'utf8');
  expect(page).toBe(withGraphqlTables(page));
  expect(withGraphqlTables(page.replace('| a field of a mutation | 50', '| a field of a mutation | 5'))).toBe(
    page,
  );
});

test.each([
  [
    'an option',
    'fields.ts',
    '  /** Null until it is set. */\n',
    /^optional\(\) of “Options of fields” has no comment/,
  ],
  [
    'a type of field',
    'fields.ts',
    '/** True or false. */\n',
    /^flag\(\) of “Types of fields” has no comment/,
  ],
  [
    'an effect',
    'aggregate.ts',
    '  /** Removes an item. */\n',
    /^removes of “Events of items” has no comment/,
  ],
  ['a form of a condition', 'conditions.ts', '  /** Any of these holds. */\n', /has no comment/],
  ['the roles of a right', 'aggregate.ts', '  /** The right of this role. */\n', /has no comment/],
])('%s without a comment is refused', (_, file, comment, sentence) => {
  expect(() => referenceOf(but(file, comment, ''))).toThrow(sentence);
});

test('a comment on a preceding item does not count for an option', () => {
  const added = but(
    'fields.ts',
    '  /** Null until it is set. */',
    '  /** Null until it is set. */\n  whatever(): this;\n',
  );
  expect(() => referenceOf(added)).toThrow(/^optional\(\) of “Options of fields” has no comment/);
});

test('an exported function that is on no page is refused', () => {
  const added = { ...sources, 'maps.ts': '/** A map. */\nexport const map = (name: string) => name;\n' };
  expect(() => referenceOf(added)).toThrow('kernel/declare/maps.ts exports map: give it a section');
});
