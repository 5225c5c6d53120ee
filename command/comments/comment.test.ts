import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ArticleId, CommentId, UserId } from '#shared/brands.ts';
import { arbitrary } from '#shared/events/arbitrary-event.ts';
import { describeDecider } from '../../test/decider-properties.ts';
import { given } from '../../test/given.ts';
import { type CommentCommand, type CommentEvent, comment, commentStream } from './comment.ts';

const commentId = 9 as CommentId;
const articleId = 8 as ArticleId;
const authorId = 1 as UserId;
const place = { articleId, authorId };
const added: CommentEvent = { type: 'comment.added', data: { commentId, ...place, text: 'One' } };
const edited: CommentEvent = { type: 'comment.edited', data: { commentId, ...place, text: 'Two' } };
const deleted: CommentEvent = { type: 'comment.deleted', data: { commentId, ...place } };
const erased: CommentEvent = { type: 'comment.added', data: { commentId, ...place, text: null } };
const add = { type: 'AddComment', commentId, ...place, text: 'One', articleStatus: 'published' } as const satisfies CommentCommand;
const edit = (text: string): CommentCommand => ({ type: 'EditComment', commentId, text });
const remove: CommentCommand = { type: 'DeleteComment', commentId };

test('the stream', () => expect(commentStream(commentId)).toBe('comment-9'));

describe('adding', () => {
  test('to a published article', () => given(comment, []).when(add).yields([added]));
  test('to a draft', () =>
    given(comment, [])
      .when({ ...add, articleStatus: 'draft' })
      .refuses('article_not_published'));
  test('to a deleted article', () =>
    given(comment, [])
      .when({ ...add, articleStatus: 'deleted' })
      .refuses('article_deleted'));
  test('to no article', () =>
    given(comment, [])
      .when({ ...add, articleStatus: 'absent' })
      .refuses('article_not_found'));
  test('under the id of a comment', () => given(comment, [added]).when(add).refuses('id_taken'));
  test('under the id of a deleted comment', () => given(comment, [added, deleted]).when(add).refuses('id_taken'));
});

describe('editing', () => {
  test('the text', () => given(comment, [added]).when(edit('Two')).yields([edited]));
  test('to what it is', () => given(comment, [added]).when(edit('One')).changesNothing());
  test('to what an earlier edit made of it', () => given(comment, [added, edited]).when(edit('Two')).changesNothing());
  test('what is not there', () => given(comment, []).when(edit('Two')).refuses('comment_not_found'));
  test('what was deleted', () => given(comment, [added, deleted]).when(edit('Two')).refuses('comment_deleted'));
  test('the words of an erased person', () => given(comment, [erased]).when(edit('Two')).refuses('user_deleted'));
});

describe('deleting', () => {
  test('a comment', () => given(comment, [added]).when(remove).yields([deleted]));
  test('the words of an erased person', () => given(comment, [erased]).when(remove).yields([deleted]));
  test('what was deleted', () => given(comment, [added, deleted]).when(remove).changesNothing());
  test('what is not there', () => given(comment, []).when(remove).refuses('comment_not_found'));
});

test('the state of a deleted comment keeps its place and nothing of the text', () =>
  given(comment, [added, edited, deleted]).is({ status: 'deleted', ...place }));

describe('in general', () => {
  const text = fc.oneof(arbitrary.text, fc.constantFrom('One', 'Two'));
  describeDecider<typeof comment.initial, CommentCommand, CommentEvent>(
    comment,
    fc.oneof<fc.Arbitrary<CommentCommand>[]>(
      fc.record({
        ...{ type: fc.constant('AddComment'), commentId: fc.constant(commentId), text },
        ...{ articleId: fc.constant(articleId), authorId: fc.constant(authorId) },
        articleStatus: fc.constantFrom('absent', 'draft', 'published', 'deleted'),
      }),
      text.map(edit),
      fc.constant(remove),
    ),
  );
});
