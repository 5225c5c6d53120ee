import { expect, test } from 'vitest';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { createChangeOpener } from '#shared/change-stream/open-change.ts';
import type { Caller } from '#shared/policy.ts';
import { maySee } from '#shared/visibility/may-see.ts';
import { until } from '../../testing/until.ts';
import { addComment, as, by, draftArticle, registerUser, system } from '../engines/command-side.ts';
import { POLICY } from '../engines/policy.ts';
import type { ArticleId, CommentId } from '../publishing-ids.ts';
import { type ChangeEngine, receivedSoFar } from './change-stream-engine.ts';

const anonymous: Caller = { kind: 'anonymous', policy: POLICY };

/** The content of a change, and its visibility. */
export const describeKnowledge = (engine: () => ChangeEngine): void => {
  describePersonalFields(engine);
  describeRights(engine);
};

const NAME = 'Ada Augusta King-Noel';
const PLACE = 'lovelace.example';
const TEXT = 'Weaves algebraical patterns';

const writePersonal = async ({ side }: ChangeEngine) => {
  const head = await side.eventLog.head();
  // A unique address.
  const email = `countess-${head}@${PLACE}`;
  const userId = await registerUser(side, { name: NAME, email });
  const reader = by(as(userId));
  await side.send({ type: 'UpdateUser', userId, name: `${NAME} II` }, reader);
  await side.send({ type: 'UpdateUser', userId, email: `two.${email}` }, by(system));
  const articleId = await draftArticle(side, userId);
  const { id } = await side.send({ type: 'AddComment', articleId, text: TEXT }, reader);
  const commentId = id as CommentId;
  await side.send({ type: 'EditComment', commentId, text: `${TEXT} again` }, reader);
  return { head, userId, email };
};

const describePersonalFields = (engine: () => ChangeEngine): void => {
  test('contains no personal field, neither in clear nor encrypted', async () => {
    const { side } = engine();
    const { head } = await writePersonal(engine());
    const changes = await receivedSoFar(engine(), head);
    expect(changes.map(({ type }) => type)).toEqual([
      ...[
        'user.registered',
        'user.updated',
        'user.updated',
        'article.drafted',
        'article.published',
        'comment.added',
        'comment.edited',
      ],
    ]);
    const text = JSON.stringify(changes);
    for (const secret of [NAME, PLACE, TEXT]) expect(text.toLowerCase()).not.toContain(secret.toLowerCase());
    let sealedCount = 0;
    for (const { stream } of changes) {
      for await (const events of side.eventLog.read(stream)) {
        for (const { data } of events) {
          const { sealed } = (data.personal ?? {}) as { readonly sealed?: string };
          if (sealed === undefined) continue;
          sealedCount += 1;
          // Behind the marker of the format.
          expect(text).not.toContain(sealed.slice(2, 22));
        }
      }
    }
    expect(sealedCount).toBeGreaterThanOrEqual(5);
    expect(text).not.toMatch(/sealed|"personal"/);
  });

  test('can be decrypted completely by those with the right', async () => {
    const { side } = engine();
    const { head, userId, email } = await writePersonal(engine());
    const open = createChangeOpener(side);
    const changes = await receivedSoFar(engine(), head);
    const [registered, renamed, , drafted, , added] = await Promise.all(
      changes.map((change) => open(change)),
    );
    expect(registered).toEqual({ userId, name: NAME, email, role: 'author' });
    expect(renamed).toEqual({ userId, name: `${NAME} II` });
    expect(drafted).toEqual(changes[3]?.data);
    expect(added).toMatchObject({ text: TEXT, authorId: userId });
  });

  test('contains no erased data', async () => {
    const { side } = engine();
    const { head, userId } = await writePersonal(engine());
    const changes = await receivedSoFar(engine(), head);
    await side.keys.destroy(userId);
    const open = createChangeOpener(side);
    const opened = await Promise.all(changes.map((change) => open(change)));
    expect(opened[0]).toMatchObject({ userId, name: null, email: null });
    expect(opened[5]).toMatchObject({ text: null });
    const again = await receivedSoFar(engine(), head);
    // The changed fields are unknown now, so only callers with the widest rights may see it.
    expect(again.filter(({ type }) => type === 'user.updated').map(({ right }) => right)).not.toContain(
      'user.read',
    );
  });

  test('shows everybody that the name has changed, and nobody else that the address has', async () => {
    const { head, userId } = await writePersonal(engine());
    const [registered, renamed, moved] = await receivedSoFar(engine(), head);
    const know = (caller: Caller) =>
      [registered, renamed, moved].map((change) => change && maySee(caller, change));
    expect(know(anonymous)).toEqual([true, true, false]);
    expect(know(as(1, 'author'))).toEqual([true, true, false]);
    expect(know(as(userId))).toEqual([true, true, true]);
    expect(know(as(1, 'admin'))).toEqual([true, true, true]);
    // Public data needs no scope.
    expect(know(as(userId, 'admin', []))).toEqual([true, true, false]);
  });
};

const describeRights = (engine: () => ChangeEngine): void => {
  test('for articles and comments depends on their state at the time of the event', async () => {
    const { side } = engine();
    const head = await side.eventLog.head();
    const [author, guest] = [
      await registerUser(side, { name: 'Author' }),
      await registerUser(side, { name: 'Guest', role: 'reader' }),
    ];
    const articleId = await draftArticle(side, author, false);
    const own = by(as(author));
    const edit = (title: string) => side.send({ type: 'EditArticle', articleId, title }, own);
    await edit('As a draft');
    await side.send({ type: 'PublishArticle', articleId }, own);
    const commentId = await addComment(side, guest, articleId);
    await edit('In public');
    await side.send({ type: 'UnpublishArticle', articleId }, own);
    await edit('A draft again');
    await side.send({ type: 'EditComment', commentId, text: 'While nobody looks' }, by(system));
    await side.send({ type: 'PublishArticle', articleId }, own);
    await addComment(side, author, articleId);
    await side.send({ type: 'DeleteArticle', articleId }, own);
    const changes = await untilReceived(engine(), { after: head, ends: 'comment.deleted', times: 2 });
    const others = changes.filter(({ type }) => !type.startsWith('user.'));
    expect(
      others.map((change) => [change.type, change.resource.articleStatus, maySee(anonymous, change)]),
    ).toEqual([
      ['article.drafted', 'draft', false],
      ['article.edited', 'draft', false],
      ['article.published', 'published', true],
      ['comment.added', 'published', true],
      ['article.edited', 'published', true],
      ['article.unpublished', 'published', true],
      ['article.edited', 'draft', false],
      ['comment.edited', 'draft', false],
      ['article.published', 'published', true],
      ['comment.added', 'published', true],
      ['article.deleted', 'published', true],
      // By the process manager, when the article was gone.
      ['comment.deleted', null, false],
      ['comment.deleted', null, false],
    ]);
    expect(others.every((change) => maySee(as(author), change))).toBe(true);
    expect(
      others
        .filter(({ stream }) => stream.startsWith('comment-'))
        .map(({ resource }) => resource.articleAuthorId),
    ).toEqual(others.filter(({ stream }) => stream.startsWith('comment-')).map(() => author));
    expect(others.filter((change) => maySee(as(guest, 'reader'), change)).length).toBe(7);
  });

  test('reveals the deletion of a draft to nobody else', async () => {
    const { side } = engine();
    const head = await side.eventLog.head();
    const author = await registerUser(side, { name: 'Author' });
    const articleId: ArticleId = await draftArticle(side, author, false);
    await side.send({ type: 'DeleteArticle', articleId }, by(system));
    const changes = await receivedSoFar(engine(), head);
    expect(changes.filter((change) => maySee(anonymous, change)).map(({ type }) => type)).toEqual([
      'user.registered',
    ]);
  });
};

type Awaited = {
  readonly after: Parameters<typeof receivedSoFar>[1];
  readonly ends: string;
  readonly times: number;
};

const untilReceived = (engine: ChangeEngine, { after, ends, times }: Awaited): Promise<readonly Change[]> =>
  until(
    () => receivedSoFar(engine, after),
    (changes) => changes.filter(({ type }) => type === ends).length >= times,
    40_000,
  );
