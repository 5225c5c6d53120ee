import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ID, OWNER, rulesOf } from '#kernel/decide/given.ts';
import { arbitrary } from '../test/arbitrary-event.ts';
import { describeKind } from '../test/decider-properties.ts';
import { article } from './article.ts';
import { comment } from './comment.ts';
import { publishing } from './publishing.ts';

const { given } = rulesOf(publishing);

const added = ['added', { text: 'One' }] as const;
const edited = ['edited', { text: 'Two' }] as const;
const erased = ['added', { text: null }] as const;

const drafted = ['drafted', { title: 'One', body: '', tags: [], cover: null }] as const;

describe('adding', () => {
  const under = (...history: Parameters<typeof given<typeof article>>[1][]) =>
    given(comment).beside({ article: given(article, ...history).state });
  test('to a published article', () =>
    under(drafted, 'published').when('add', { text: 'One' }).yields(added));
  test('to a draft', () => under(drafted).when('add', { text: 'One' }).refuses('article_not_published'));
  test('to a deleted article', () =>
    under(drafted, 'published', 'deleted').when('add', { text: 'One' }).refuses('article_deleted'));
  test('to no article', () => given(comment).when('add', { text: 'One' }).refuses('article_not_found'));
  test('under the id of a comment', () =>
    given(comment, added).when('add', { text: 'One' }).refuses('id_taken'));
  test('under the id of a deleted comment', () =>
    given(comment, added, 'deleted').when('add', { text: 'One' }).refuses('id_taken'));
});

describe('editing', () => {
  test('the text', () => given(comment, added).when('edit', { text: 'Two' }).yields(edited));
  test('to what it is', () => given(comment, added).when('edit', { text: 'One' }).changesNothing());
  test('to what an earlier edit made of it', () =>
    given(comment, added, edited).when('edit', { text: 'Two' }).changesNothing());
  test('what is not there', () => given(comment).when('edit', { text: 'Two' }).refuses('comment_not_found'));
  test('what was deleted', () =>
    given(comment, added, 'deleted').when('edit', { text: 'Two' }).refuses('comment_deleted'));
  test('the words of an erased person', () =>
    given(comment, erased).when('edit', { text: 'Two' }).refuses('user_deleted'));
});

describe('deleting', () => {
  test('a comment', () => given(comment, added).when('delete').yields('deleted'));
  test('the words of an erased person', () => given(comment, erased).when('delete').yields('deleted'));
  test('what was deleted', () => given(comment, added, 'deleted').when('delete').changesNothing());
  test('what is not there', () => given(comment).when('delete').refuses('comment_not_found'));
});

test('the state of a deleted comment keeps its place and nothing of the text', () =>
  expect(given(comment, added, edited, 'deleted').state).toEqual({
    status: 'ended',
    fields: { id: ID, article: ID, author: OWNER },
  }));

describe('in general', () => {
  const form = fc.record({ text: fc.oneof(arbitrary.text, fc.constantFrom('One', 'Two')) });
  const published = given(article, drafted, 'published').state;
  describeKind(publishing, 'comment', { add: form, edit: form }, [
    published,
    published,
    given(article, drafted).state,
    given(article).state,
  ]);
});
