import { expect } from 'vitest';
import type { UserId } from '#kernel/base/brands.ts';
import { addComment, as, by, draftArticle, registerUser } from '../test/engines/command-side.ts';
import { POLICY } from '../test/engines/policy.ts';
import { test } from '../test/engines/processes.ts';

test('an absent user cannot become the author', async ({ side }) => {
  const gone = await registerUser(side);
  await side.send({ type: 'DeleteUser', userId: gone }, by(as(gone)));
  const draftFor = (authorId: UserId, cover: string | null = null) =>
    side.send(
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
  const articleId = await draftArticle(side, await registerUser(side));
  await expect(addComment(side, gone, articleId)).rejects.toMatchObject({ code: 'user_deleted' });
});

test('rights are checked before anything is written', async ({ side }) => {
  const author = await registerUser(side);
  const articleId = await draftArticle(side, author);
  const before = await side.eventLog.head();
  const edit = { type: 'EditArticle', articleId, title: 'No' } as const;
  await expect(side.send(edit, by({ kind: 'anonymous', policy: POLICY }))).rejects.toMatchObject({
    code: 'unauthenticated',
  });
  await expect(
    side.send(edit, by(as(author, 'author', ['read:articles']), { idempotencyKey: 'k' })),
  ).rejects.toMatchObject({
    code: 'insufficient_scope',
    details: { scope: 'write:articles' },
  });
  await expect(
    side.send({ type: 'RegisterUser', name: 'Eve', email: null, role: 'admin' }, by(as(author))),
  ).rejects.toMatchObject({
    code: 'forbidden',
  });
  await expect(
    side.send({ type: 'UpdateUser', userId: author, role: 'admin' }, by(as(author))),
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
  await expect(side.send(publishing, by(as(author, 'author', ['write:articles'])))).rejects.toMatchObject({
    code: 'insufficient_scope',
  });
  expect(await side.eventLog.head()).toBe(before);
});
