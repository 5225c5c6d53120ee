import fc from 'fast-check';
import { expect, test } from 'vitest';
import { typeOfCommand } from '#kernel/decide/decide.ts';
import { deciderOf, type KindDecider } from '#kernel/decide/decider.ts';
import type { AggregateState } from '#kernel/decide/evolve.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import type { UserId } from '#shared/brands.ts';
import { DraftArticle, EditArticle } from '#shared/commands/article.ts';
import { commandsOf } from '#shared/commands/command.ts';
import { AddComment, EditComment } from '#shared/commands/comment.ts';
import { arbitrary } from '#shared/events/arbitrary-event.ts';
import { fieldErrorsOf } from '#shared/json-pointers.ts';
import { admit, type Caller, isInReach, may, type Operation, SCOPES } from '#shared/policy.ts';
import { Rejection } from '#shared/rejection.ts';
import { createRights } from '../command/aggregates/rights.ts';
import { type ArticleCommand, type ArticleEvent, article } from '../command/articles/article.ts';
import { type CommentCommand, type CommentEvent, comment } from '../command/comments/comment.ts';
import { demand } from '../command/handler.ts';
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

test('articles: random histories', () => {
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
    { numRuns: 1_000 },
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

test('comments: random histories, some of erased people', () => {
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
    { numRuns: 1_000 },
  );
});

test('the names of commands', () => {
  const kind = publishing.kinds.article as Kind;
  expect(Object.keys(kind.commands).map((each) => typeOfCommand(kind, each))).toEqual([
    ...['DraftArticle', 'EditArticle', 'PublishArticle', 'UnpublishArticle', 'DeleteArticle'],
  ]);
});

const odd = fc.oneof(
  fc.constantFrom<unknown>(
    undefined,
    null,
    '',
    ' ',
    'x',
    'two\nlines',
    '\u200b',
    '\u0000',
    '\ud800',
    1,
    -1,
    1.5,
    true,
    [],
    ['a', 'a'],
    ['A B'],
  ),
  fc.constantFrom<unknown>(
    ['a', 'b'],
    Array.from({ length: 11 }, (_, at) => `t${at}`),
    'https://example.com/a.png',
    'ftp://x',
    '/uploads/x.png',
  ),
  fc.constantFrom<unknown>('x'.repeat(201), 'x'.repeat(5_001), `/uploads/8-${UUIDS[0]}.png`, 'https://user@x.example/', {}, '8'),
);
const forms = { DraftArticle, EditArticle, AddComment, EditComment };
const everyField = ['articleId', 'commentId', 'authorId', 'title', 'body', 'tags', 'cover', 'publish', 'text', 'extra'];

test.each(Object.entries(forms))('%s: what is wrong with a form is told in the same words', (type, before) => {
  const now = commandsOf(publishing);
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...everyField), odd), (form) => {
      const sent = { type, ...form };
      const [one, other] = [before.safeParse(sent), now.safeParse(sent)];
      expect(other.data).toEqual(one.data);
      expect(other.error && fieldErrorsOf(other.error, sent)).toEqual(one.error && fieldErrorsOf(one.error, sent));
    }),
    { numRuns: 2_000 },
  );
});

test('the rights: all callers, scopes, states and owners', () => {
  const rights = createRights(publishing);
  const operations = {
    article: {
      read: 'article.read',
      draft: 'article.create',
      edit: 'article.edit',
      publish: 'article.publish',
      unpublish: 'article.unpublish',
      delete: 'article.delete',
    },
    comment: { read: 'comment.read', add: 'comment.add', edit: 'comment.edit', delete: 'comment.delete' },
  } as const;
  const callers: Caller[] = [
    { kind: 'anonymous' },
    { kind: 'system', name: 'test' },
    ...(['reader', 'author', 'admin', 'other' as 'reader'] as const).flatMap((role) =>
      [SCOPES, []].map((scopes): Caller => ({ kind: 'user', userId: 1 as UserId, role, scopes: new Set<string>(scopes), client: null })),
    ),
  ];
  const told = (ask: () => unknown): unknown => {
    try {
      return ask();
    } catch (error) {
      return error instanceof Rejection ? [error.code, error.details] : error;
    }
  };
  const hidden = new Rejection('article_not_found');
  for (const caller of callers)
    for (const ownerId of [1, 2] as UserId[])
      for (const articleAuthorId of [1, 2] as UserId[])
        for (const articleStatus of ['draft', 'published', 'deleted'] as const)
          for (const [name, all] of Object.entries(operations))
            for (const [operation, before] of Object.entries(all) as [string, Operation][]) {
              const parent =
                articleStatus === 'deleted'
                  ? { id: ID, author: articleAuthorId }
                  : { id: ID, author: articleAuthorId, status: articleStatus };
              const fields = name === 'comment' ? { id: 9, author: ownerId, article: ID } : { ...parent, author: ownerId };
              const question = { kind: publishing.kinds[name] as Kind, operation, fields, find: () => parent };
              const resource = { ownerId, articleStatus, ...(name === 'comment' && { articleAuthorId }) };
              expect(rights.may(caller, question)).toBe(may(caller, before, resource));
              expect(rights.isInReach(caller, question)).toBe(isInReach(caller, before, resource));
              expect(told(() => rights.admit(caller, question.kind, operation))).toEqual(told(() => admit(caller, before)));
              expect(told(() => rights.demand(caller, question, hidden))).toEqual(told(() => demand(caller, before, { resource, hidden })));
              expect(told(() => rights.demand(caller, question))).toEqual(told(() => demand(caller, before, { resource })));
            }
});
