import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { policyOf } from './policy.ts';
import { scopeWordsOf } from './scope-words.ts';

test('scopes of the domain are told by what its commands do, and whether that is with one’s own', () => {
  const words = scopeWordsOf(publishing);
  expect([...words.keys()]).toEqual(policyOf(publishing).scopes);
  expect(words.get('read:articles')).toEqual({
    described: 'Read articles',
    asked: 'Read articles, also those of yours that others cannot see',
  });
  expect(words.get('publish:articles')).toEqual({
    described: 'Publish and unpublish articles',
    asked: 'Publish and unpublish articles of yours',
  });
  // Comments are read as their article is.
  expect(words.get('read:comments')).toEqual({ described: 'Read comments', asked: 'Read comments' });
  expect(words.get('write:comments')?.described).toBe('Write, change and delete comments');
});
