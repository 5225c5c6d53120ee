import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { typesOf } from './event-patterns.ts';

const catalogue = catalogueOf(publishing);

test.each<[string, readonly string[]]>([
  ['comment.added', ['comment.added']],
  ['comment.*', ['comment.added', 'comment.edited', 'comment.deleted']],
  ['email.*', []],
  ['command.reserved', []],
  ['user.email_abandoned', []],
  ['comment', []],
  ['comm*', []],
  ['', []],
])('%j stands for %j', (pattern, types) => {
  expect(typesOf(catalogue, pattern)).toEqual(types);
});

test('an asterisk stands for all public types, and nothing else', () => {
  const visible = catalogue.definitions.filter(({ visibility }) => visibility === 'public');
  expect(typesOf(catalogue, '*')).toEqual(visible.map(({ type }) => type));
  expect(typesOf(catalogue, 'user.*')).not.toContain('user.email_abandoned');
});
