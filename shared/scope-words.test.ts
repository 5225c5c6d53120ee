import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { policyOf } from './policy.ts';
import { scopeWordsOf } from './scope-words.ts';

test('scopes of the domain are described by their commands, and whether they are limited to one’s own', () => {
  const words = scopeWordsOf(publishing);
  expect([...words.keys()]).toEqual(policyOf(publishing).scopes);
  expect(words.get('read:articles')).toEqual({
    described: 'Read articles',
    asked: 'Read articles, including yours that others cannot see',
  });
  expect(words.get('publish:articles')).toEqual({
    described: 'Publish and unpublish articles',
    asked: 'Publish and unpublish articles of yours',
  });
  // Comments are readable if their article is.
  expect(words.get('read:comments')).toEqual({ described: 'Read comments', asked: 'Read comments' });
  expect(words.get('write:comments')?.described).toBe('Write, change and delete comments');
});
