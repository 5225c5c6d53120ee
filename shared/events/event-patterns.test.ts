import { expect, test } from 'vitest';
import { CATALOGUE } from '#shared/events/catalogue.ts';
import { typesOf } from './event-patterns.ts';

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
  expect(typesOf(pattern)).toEqual(types);
});

test('an asterisk stands for all that is told outside, and nothing else', () => {
  const told = Object.values(CATALOGUE).filter(({ visibility }) => visibility === 'public');
  expect(typesOf('*')).toEqual(told.map(({ type }) => type));
  expect(typesOf('user.*')).not.toContain('user.email_abandoned');
});
