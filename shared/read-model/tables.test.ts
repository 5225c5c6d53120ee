import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { DecodedEvent } from '#shared/events/codec.ts';
import { tablesOf } from './tables.ts';

const tables = tablesOf(publishing);
const AT = '2026-01-01T00:00:00.000Z';

const project = (type: string, data: object, more: object = {}) => {
  const [kind = ''] = type.split('.');
  const event = { type, data, version: 3, metadata: { at: AT, actor: 'user:1' }, ...more };
  return tables.ofKind(kind)?.project(event as unknown as DecodedEvent);
};
const content = { title: 'One', body: 'b', tags: ['a'], cover: null };

test('an event that creates puts a whole row, with null in missing fields', () => {
  expect(project('article.drafted', { articleId: 8, authorId: 7, ...content })).toEqual({
    kind: 'put',
    row: {
      id: 8,
      author_id: 7,
      ...content,
      status: 'draft',
      published_at: null,
      version: 3,
      created_at: AT,
      updated_at: AT,
    },
  });
});

test('an event that changes patches the fields it states, and not the owner', () => {
  expect(project('article.edited', { articleId: 8, authorId: 7, title: 'Two' })).toEqual({
    kind: 'patch',
    row: { id: 8, title: 'Two', version: 3, updated_at: AT },
  });
});

test('an event that sets a state sets its time too', () => {
  const ids = { articleId: 8, authorId: 7 };
  const row = { id: 8, version: 3, updated_at: AT };
  expect(project('article.published', ids)).toEqual({
    kind: 'patch',
    row: { ...row, status: 'published', published_at: AT },
  });
  expect(project('article.unpublished', ids)).toEqual({
    kind: 'patch',
    row: { ...row, status: 'draft', published_at: null },
  });
});

test('a row is deleted with its aggregate; that of a user stays, without personal data', () => {
  expect(project('comment.deleted', { commentId: 9, articleId: 8, authorId: 7 })).toEqual({
    kind: 'drop',
    row: { id: 9, version: 3 },
  });
  expect(project('user.deleted', { userId: 7 })).toEqual({
    kind: 'patch',
    row: { id: 7, name: null, email: null, version: 3, updated_at: AT, deleted_at: AT },
  });
});

test('the seal represents personal data', () => {
  const added = { commentId: 9, articleId: 8, authorId: 7, text: 'Hm.' };
  expect(project('comment.added', added, { seal: 's' })).toMatchObject({
    kind: 'put',
    row: { text: 'Hm.', seal: 's' },
  });
  expect(project('comment.added', { ...added, text: null })).toMatchObject({
    row: { text: null, seal: null },
  });
  expect(project('comment.edited', added)?.row).not.toHaveProperty('seal');
});

test('an event without fields counts as a version, and is no change', () => {
  expect(project('user.email_abandoned', { userId: 7, claim: 'c' })).toEqual({
    kind: 'patch',
    row: { id: 7, version: 3 },
  });
});

test('an event of another kind is refused', () => {
  expect(() => tables.ofKind('article')?.project({ type: 'article.unknown', data: {} } as never)).toThrow(
    'article.unknown is not an event of article',
  );
});

test('a stream has its row by its kind and its number', () => {
  expect(tables.rowOf('article-8' as never)).toMatchObject({ table: { name: 'articles' }, id: 8 });
  expect(tables.rowOf('article-x' as never)).toBeUndefined();
  expect(tables.rowOf('folder-8' as never)).toBeUndefined();
  expect(tables.isProjected({ stream: 'folder-8' as never })).toBe(false);
  expect(tables.isProjected({ stream: 'users' as never })).toBe(false);
  expect(tables.isProjected({ stream: 'article-x' as never })).toBe(true);
});
