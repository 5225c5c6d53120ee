import { expect, test } from 'vitest';
import { rightOf } from '#kernel/conditions/rights.ts';
import { publishing } from './publishing.ts';

test('a comment has the visibility of its article', () => {
  const { comment } = publishing.kinds;
  if (!comment) throw new Error('There is no comment');
  const author = rightOf(publishing, comment, 'read', 'author');
  expect(author).toMatchObject({
    op: 'or',
    of: [
      { op: 'at', field: 'article' },
      { op: 'at', field: 'article' },
    ],
  });
  expect(rightOf(publishing, comment, 'read', 'admin')).toEqual({ op: 'const', value: true });
});
