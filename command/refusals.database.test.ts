import { afterAll, beforeAll, expect, test } from 'vitest';
import type { UserId, Version } from '#shared/brands.ts';
import {
  addComment,
  as,
  by,
  type CommandSide,
  createCommandWorld,
  draftArticle,
  registerUser,
  system,
} from '../test/engines/command-side.ts';
import { POLICY } from '../test/engines/policy.ts';
import type { ArticleId } from '../test/publishing-ids.ts';

let world: Awaited<ReturnType<typeof createCommandWorld>>;
let one: CommandSide;
beforeAll(async () => {
  world = await createCommandWorld();
  one = await world.open();
});
afterAll(async () => {
  await one?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

test('an absent user cannot become the author', async () => {
  const gone = await registerUser(one);
  await one.send({ type: 'DeleteUser', userId: gone }, by(as(gone)));
  const draftFor = (authorId: UserId, cover: string | null = null) =>
    one.send(
      { type: 'DraftArticle', authorId, title: 'T', body: '', tags: [], cover, publish: false },
      by(as(1, 'admin')),
    );
  const absent = {
    code: 'invalid_command',
    details: { errors: [{ pointer: '/authorId', detail: 'There is no such user.' }] },
  };
  await expect(draftFor(987_654 as UserId)).rejects.toMatchObject(absent);
  await expect(draftFor(gone)).rejects.toMatchObject(absent);
  // Their absence is reported before errors in the form.
  await expect(draftFor(gone, `/uploads/9-0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b.png`)).rejects.toMatchObject(
    absent,
  );
  const articleId = await draftArticle(one, await registerUser(one));
  await expect(addComment(one, gone, articleId)).rejects.toMatchObject({ code: 'user_deleted' });
});

test.each([
  [
    'an article that is not there',
    { type: 'EditArticle', articleId: 4 as ArticleId, title: 'T' } as const,
    'article_not_found',
  ],
  [
    'a comment that is not there',
    { type: 'DeleteComment', commentId: 4 as never } as const,
    'comment_not_found',
  ],
  ['a user who is not there', { type: 'DeleteUser', userId: 4 as never } as const, 'user_not_found'],
  [
    'a comment on an article that is not there',
    { type: 'AddComment', articleId: 4 as ArticleId, authorId: 4 as never, text: 'x' } as const,
    'article_not_found',
  ],
])('refuses %s', async (_what, command, code) => {
  await expect(one.send(command, by(system))).rejects.toMatchObject({ code });
});

test('another author’s draft is reported as absent, and their published article as forbidden', async () => {
  const [author, other] = [await registerUser(one), await registerUser(one)];
  const [draft, published] = [await draftArticle(one, author, false), await draftArticle(one, author)];
  const edit = (articleId: ArticleId) =>
    one.send({ type: 'EditArticle', articleId, title: 'Mine now' }, by(as(other)));
  await expect(edit(draft)).rejects.toMatchObject({ code: 'article_not_found' });
  await expect(edit(published)).rejects.toMatchObject({ code: 'forbidden' });
  await expect(addComment(one, other, draft)).rejects.toMatchObject({ code: 'article_not_found' });
});

test('rights are checked before anything is written', async () => {
  const author = await registerUser(one);
  const articleId = await draftArticle(one, author);
  const before = await one.eventLog.head();
  const edit = { type: 'EditArticle', articleId, title: 'No' } as const;
  await expect(one.send(edit, by({ kind: 'anonymous', policy: POLICY }))).rejects.toMatchObject({
    code: 'unauthenticated',
  });
  await expect(
    one.send(edit, by(as(author, 'author', ['read:articles']), { idempotencyKey: 'k' })),
  ).rejects.toMatchObject({
    code: 'insufficient_scope',
    details: { scope: 'write:articles' },
  });
  await expect(
    one.send({ type: 'RegisterUser', name: 'Eve', email: null, role: 'admin' }, by(as(author))),
  ).rejects.toMatchObject({
    code: 'forbidden',
  });
  await expect(
    one.send({ type: 'UpdateUser', userId: author, role: 'admin' }, by(as(author))),
  ).rejects.toMatchObject({
    code: 'forbidden',
  });
  const publishing = {
    type: 'DraftArticle',
    title: 'T',
    body: '',
    tags: [],
    cover: null,
    publish: true,
  } as const;
  await expect(one.send(publishing, by(as(author, 'author', ['write:articles'])))).rejects.toMatchObject({
    code: 'insufficient_scope',
  });
  expect(await one.eventLog.head()).toBe(before);
});

test('the owner of an article decides about the comments on it', async () => {
  const [author, reader, stranger] = [
    await registerUser(one),
    await registerUser(one),
    await registerUser(one),
  ];
  const articleId = await draftArticle(one, author);
  const commentId = await addComment(one, reader, articleId);
  await expect(one.send({ type: 'DeleteComment', commentId }, by(as(stranger)))).rejects.toMatchObject({
    code: 'forbidden',
  });
  await expect(one.send({ type: 'EditComment', commentId, text: 'x' }, by(as(author)))).rejects.toMatchObject(
    { code: 'forbidden' },
  );
  expect((await one.send({ type: 'DeleteComment', commentId }, by(as(author)))).version).toBe(2 as Version);
});
