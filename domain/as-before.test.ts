import fc from 'fast-check';
import { expect, test } from 'vitest';
import { typeOfCommand } from '#kernel/decide/decide.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import { DraftArticle, EditArticle } from '#shared/commands/article.ts';
import { commandsOf } from '#shared/commands/command.ts';
import { AddComment, EditComment } from '#shared/commands/comment.ts';
import { fieldErrorsOf } from '#shared/json-pointers.ts';
import { publishing } from './publishing.ts';

/** The derived forms are those that were written by hand. Goes with these. */
const UUID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';

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
