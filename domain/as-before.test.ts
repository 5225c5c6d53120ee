import fc from 'fast-check';
import { expect, test } from 'vitest';
import { typeOfCommand } from '#kernel/decide/decide.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import type { UserId } from '#shared/brands.ts';
import { DraftArticle, EditArticle } from '#shared/commands/article.ts';
import { commandsOf } from '#shared/commands/command.ts';
import { AddComment, EditComment } from '#shared/commands/comment.ts';
import { fieldErrorsOf } from '#shared/json-pointers.ts';
import { admit, type Caller, isInReach, may, type Operation, policyOf, SCOPES } from '#shared/policy.ts';
import { Rejection } from '#shared/rejection.ts';
import { createRights } from '../command/aggregates/rights.ts';
import { demand } from '../command/handler.ts';
import { publishing } from './publishing.ts';

/** The derived forms and rights are those that were written by hand. Goes with these. */
const UUID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';
const ID = 8;

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
  fc.constantFrom<unknown>('x'.repeat(201), 'x'.repeat(5_001), `/uploads/8-${UUID}.png`, 'https://user@x.example/', {}, '8'),
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
      draft: 'article.draft',
      edit: 'article.edit',
      publish: 'article.publish',
      unpublish: 'article.unpublish',
      delete: 'article.delete',
    },
    comment: { read: 'comment.read', add: 'comment.add', edit: 'comment.edit', delete: 'comment.delete' },
  } as const;
  const callers: Caller[] = [
    { kind: 'anonymous', policy: policyOf(publishing) },
    { kind: 'system', name: 'test' },
    ...(['reader', 'author', 'admin', 'other' as 'reader'] as const).flatMap((role) =>
      [SCOPES, []].map(
        (scopes): Caller => ({
          kind: 'user',
          policy: policyOf(publishing),
          userId: 1 as UserId,
          role,
          scopes: new Set<string>(scopes),
          client: null,
        }),
      ),
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
