import fc from 'fast-check';
import { expect, test } from 'vitest';
import { typeOfCommand } from '#kernel/decide/decide.ts';
import { deciderOf, type KindDecider } from '#kernel/decide/decider.ts';
import type { AggregateState } from '#kernel/decide/evolve.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import { arbitrary } from '#shared/events/arbitrary-event.ts';
import { Rejection } from '#shared/rejection.ts';
import { type ArticleCommand, type ArticleEvent, article } from '../command/articles/article.ts';
import { type CommentCommand, type CommentEvent, comment } from '../command/comments/comment.ts';
import { publishing } from './publishing.ts';

/** The derived rules come to what the hand-written ones came to. Goes with these. */
const UUIDS = ['0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b', '0198a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b'];
const ID = 8;
const at = '2026-01-02T03:04:05.678Z';
const ruleOf = (name: string): KindDecider => deciderOf(publishing, publishing.kinds[name] as Kind);
const outcome = (decide: () => readonly unknown[]): unknown => {
  try {
    return decide();
  } catch (error) {
    if (error instanceof Rejection) return { code: error.code, message: error.message, details: error.details };
    throw error;
  }
};
const { title, body, tags, cover, text } = arbitrary;
const covers = fc.oneof(
  cover,
  fc.constantFrom(...UUIDS.flatMap((uuid) => [`/uploads/8-${uuid}.png`, `/uploads/9-${uuid}.png`, `/uploads/80-${uuid}.png`])),
);
const content = {
  title: fc.oneof(title, fc.constantFrom('One', 'Two')),
  body: fc.oneof(body, fc.constant('')),
  tags: fc.oneof(tags, fc.constant(['a', 'b']), fc.constant(['b', 'a'])),
  cover: covers,
};
const articleCommand = fc.oneof(
  fc.record({ type: fc.constant('DraftArticle'), articleId: fc.constant(ID), authorId: fc.constant(1), ...content, publish: fc.boolean() }),
  fc.record({ type: fc.constant('EditArticle'), articleId: fc.constant(ID), ...content }, { requiredKeys: ['type', 'articleId'] }),
  fc.record({ type: fc.constant('EditArticle'), articleId: fc.constant(ID), cover: covers }),
  fc.constantFrom('PublishArticle', 'UnpublishArticle', 'DeleteArticle').map((type) => ({ type, articleId: ID })),
) as fc.Arbitrary<ArticleCommand>;

test('articles: 5,000 random histories', () => {
  const now = ruleOf('article');
  fc.assert(
    fc.property(fc.array(articleCommand, { maxLength: 15 }), (commands) => {
      let before = article.initial;
      let state: AggregateState = now.initial;
      for (const command of commands) {
        const expected = outcome(() => article.decide(command, before));
        expect(outcome(() => now.decide(command, state))).toEqual(expected);
        for (const event of Array.isArray(expected) ? (expected as ArticleEvent[]) : []) {
          before = article.evolve(before, event);
          state = now.evolve(state, event);
        }
        const { lostUploads = '' } = before as { lostUploads?: string };
        if (state.status === 'present') expect(state).toMatchObject({ fields: { title: 'title' in before && before.title }, lostUploads });
      }
    }),
    { numRuns: 5_000 },
  );
});

const STATUSES = ['absent', 'draft', 'published', 'deleted'] as const;
const articleIn = (status: (typeof STATUSES)[number]): AggregateState => {
  if (status === 'absent') return { status };
  if (status === 'deleted') return { status: 'ended', fields: { id: ID, author: 1 } };
  return { status: 'present', fields: { id: ID, author: 1, status }, lostUploads: '' };
};
const words = fc.oneof(text, fc.constantFrom('One', 'Two'));
const commentCommand = fc.oneof(
  fc.record({
    ...{ type: fc.constant('AddComment'), commentId: fc.constant(9), articleId: fc.constant(ID), authorId: fc.constant(1) },
    ...{ text: words, articleStatus: fc.constantFrom('published' as const, ...STATUSES) },
  }),
  fc.record({ type: fc.constant('EditComment'), commentId: fc.constant(9), text: words }),
  fc.constant({ type: 'DeleteComment', commentId: 9 }),
) as fc.Arbitrary<CommentCommand>;

test('comments: 5,000 random histories, some of erased people', () => {
  const now = ruleOf('comment');
  fc.assert(
    fc.property(fc.array(commentCommand, { maxLength: 10 }), fc.boolean(), (commands, isErased) => {
      let before = comment.initial;
      let state: AggregateState = now.initial;
      for (const { articleStatus = 'absent', ...command } of commands as (CommentCommand & { articleStatus?: 'draft' })[]) {
        const expected = outcome(() => comment.decide({ ...command, articleStatus } as CommentCommand, before));
        const context = { callerId: 1, at, look: () => articleIn(articleStatus) };
        expect(outcome(() => now.decide(command, state, context))).toEqual(expected);
        for (const event of Array.isArray(expected) ? (expected as CommentEvent[]) : []) {
          const told = isErased && 'text' in event.data ? { ...event, data: { ...event.data, text: null } } : event;
          before = comment.evolve(before, told as CommentEvent);
          state = now.evolve(state, told);
        }
      }
    }),
    { numRuns: 5_000 },
  );
});

test('the names of commands', () => {
  const kind = publishing.kinds.article as Kind;
  expect(Object.keys(kind.commands).map((each) => typeOfCommand(kind, each))).toEqual([
    ...['DraftArticle', 'EditArticle', 'PublishArticle', 'UnpublishArticle', 'DeleteArticle'],
  ]);
});
