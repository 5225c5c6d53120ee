import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { publishing } from '#domain/publishing.ts';
import { commandsOf } from './command.ts';

const Command = commandsOf(publishing);

const article = { title: 'One', body: '', tags: [] };

test.each<[object, object]>([
  [
    { type: 'RegisterUser', name: 'Ada' },
    { email: null, role: 'reader' },
  ],
  [
    { type: 'DraftArticle', ...article },
    { cover: null, publish: false },
  ],
])('%j is completed by %j', (given, added) => {
  expect(Command.parse(given)).toEqual({ ...given, ...added });
});

test.each<object>([
  { type: 'RegisterUser', name: 'Ada', email: 'ada@example.com', role: 'admin' },
  { type: 'UpdateUser', userId: 1 },
  { type: 'UpdateUser', userId: 1, email: null },
  { type: 'DeleteUser', userId: 1 },
  {
    type: 'DraftArticle',
    authorId: 1,
    ...article,
    cover: '/uploads/8001-0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b.png',
    publish: true,
  },
  { type: 'EditArticle', articleId: 1, cover: null },
  { type: 'PublishArticle', articleId: 1 },
  { type: 'UnpublishArticle', articleId: 1 },
  { type: 'DeleteArticle', articleId: 1 },
  { type: 'AddComment', articleId: 1, text: 'x' },
  { type: 'EditComment', commentId: 1, text: 'x' },
  { type: 'DeleteComment', commentId: 1 },
])('%j is taken as it is', (given) => {
  expect(Command.parse(given)).toEqual(given);
});

describe('refused is', () => {
  test.each<[string, object]>([
    ['an unknown command', { type: 'RenameUser', userId: 1 }],
    ['an internal command', { type: 'DiscardDraft', articleId: 1 }],
    ['a field too many', { type: 'DeleteUser', userId: 1, really: true }],
    ['an id that the client chose', { type: 'RegisterUser', userId: 5, name: 'Ada' }],
    [
      'what the client says of the article',
      { type: 'AddComment', articleId: 1, text: 'x', articleStatus: 'published' },
    ],
    ['a blank name', { type: 'UpdateUser', userId: 1, name: ' ' }],
  ])('%s', (_, given) => {
    expect(Command.safeParse(given).success).toBe(false);
  });
});

test('every command has a JSON schema', () => {
  expect(z.toJSONSchema(Command, { io: 'input' })).toMatchObject({ oneOf: expect.any(Array) });
});
