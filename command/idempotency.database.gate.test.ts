// Over 200 lines, because all cases share the command side that is set up here.
import { randomUUID } from 'node:crypto';
import { afterEach, expect, vi } from 'vitest';
import type { EventId, StreamName, UserId, Version, WebhookId } from '#kernel/base/brands.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { allEvents, as, by, Died, draftArticle, mortal, registerUser } from '../test/engines/command-side.ts';
import { later } from '../test/engines/later.ts';
import { test as base } from '../test/engines/processes.ts';
import type { ArticleId } from '../test/publishing-ids.ts';
import { WEBHOOK_FORM } from '../test/webhook-form.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const draft = (title = 'On engines') =>
  ({ type: 'DraftArticle', title, body: '', tags: [], cover: null, publish: true }) as const;

const test = base.extend(
  'articlesTitled',
  { scope: 'file' },
  ({ side }) =>
    async (title: string) =>
      (await allEvents(side)).filter(
        (event) => event.type === 'article.drafted' && event.data.title === title,
      ),
);
afterEach(() => {
  vi.useRealTimers();
});

test('every process answers a repeated request with the first response', async ({
  articlesTitled,
  database,
  side,
}) => {
  const context = by(as(await registerUser(side)), { idempotencyKey: 'repeat' });
  const first = await side.send(draft('Repeated'), context);
  expect(await side.send(draft('Repeated'), context)).toEqual(first);
  await using other = await database.open();
  expect(await other.send(draft('Repeated'), context)).toEqual(first);
  await side.send(
    { type: 'EditArticle', articleId: first.id as ArticleId, title: 'Edited since' },
    { ...context, idempotencyKey: undefined },
  );
  expect(await other.send(draft('Repeated'), context)).toEqual(first);
  expect(await articlesTitled('Repeated')).toHaveLength(1);
});

test('a refusal frees its key, for the same request and for a corrected one', async ({ database, side }) => {
  const author = await registerUser(side);
  const articleId = await draftArticle(side, author, false);
  const context = by(as(author), { idempotencyKey: 'refused' });
  const comment = { type: 'AddComment', articleId, text: 'First!' } as const;
  await expect(side.send(comment, context)).rejects.toMatchObject({ code: 'article_not_published' });
  await side.send({ type: 'PublishArticle', articleId }, by(as(author)));
  await using other = await database.open();
  const added = await other.send({ ...comment, text: 'Corrected' }, context);
  expect(await side.send({ ...comment, text: 'Corrected' }, context)).toEqual(added);
  await expect(side.send(comment, context)).rejects.toMatchObject({ code: 'idempotency_key_reused' });
});

test.for(['version_mismatch', 'invalid_command'] as const)(
  'a refusal is not remembered: %s',
  async (code, { side }) => {
    const author = await registerUser(side);
    const articleId = await draftArticle(side, author);
    const edit = { type: 'EditArticle', articleId, title: 'Mended' } as const;
    const draftFor = (authorId: number) => ({ ...draft(), authorId: authorId as UserId });
    const asAdmin = by(as(author, 'admin'), { idempotencyKey: code });
    const [refused, corrected] =
      code === 'version_mismatch'
        ? [() => side.send(edit, { ...asAdmin, ifVersion: 1 as Version }), () => side.send(edit, asAdmin)]
        : [() => side.send(draftFor(987_654), asAdmin), () => side.send(draftFor(author), asAdmin)];
    await expect(refused()).rejects.toMatchObject({ code });
    await expect(refused()).rejects.toMatchObject({ code });
    const done = await corrected();
    expect(await corrected()).toEqual(done);
  },
);

test('a key identifies one request of one caller', async ({ side }) => {
  const [one, two] = [await registerUser(side), await registerUser(side)];
  const first = await side.send(draft(), by(as(one), { idempotencyKey: 'shared' }));
  await expect(side.send(draft('Another'), by(as(one), { idempotencyKey: 'shared' }))).rejects.toMatchObject({
    code: 'idempotency_key_reused',
  });
  await expect(
    side.send(draft(), by(as(one), { idempotencyKey: 'shared', ifVersion: 3 })),
  ).rejects.toMatchObject({
    code: 'idempotency_key_reused',
  });
  expect((await side.send(draft(), by(as(two), { idempotencyKey: 'shared' }))).id).not.toBe(first.id);
});

test('a key can be reused after a day', async ({ side }) => {
  const author = await registerUser(side);
  const context = by(as(author), { idempotencyKey: 'daily' });
  const first = await side.send(draft('Daily'), context);
  later(23 * HOUR_MS);
  expect(await side.send(draft('Daily'), context)).toEqual(first);
  later(2 * HOUR_MS);
  expect((await side.send(draft('Daily'), context)).id).not.toBe(first.id);
  expect((await side.send(draft('Another day'), by(as(author), { idempotencyKey: 'other' }))).version).toBe(
    2,
  );
});

test('parallel requests with one key run once, in one process and in two', async ({
  articlesTitled,
  database,
  side,
}) => {
  const context = by(as(await registerUser(side)), { idempotencyKey: 'parallel' });
  await using other = await database.open();
  const outcomes = await Promise.allSettled(
    Array.from({ length: 12 }, (_, n) => (n % 2 ? side : other).send(draft('Parallel'), context)),
  );
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected')
      expect(outcome.reason).toMatchObject({ code: 'idempotency_key_in_use' });
  }
  expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0);
  expect(await articlesTitled('Parallel')).toHaveLength(1);
});

test.for([
  [
    'between the reservation and the append',
    (stream: string) => (stream.startsWith('article-') ? ('before' as const) : undefined),
  ],
  [
    'between the append and the answer',
    (stream: string) => (stream.startsWith('article-') ? ('after' as const) : undefined),
  ],
] as const)(
  'a retry after a crash %s continues with the same ids',
  async ([when, dies], { articlesTitled, database, side }) => {
    const title = `Crashed ${when}`;
    const context = by(as(await registerUser(side)), { idempotencyKey: title.replaceAll(' ', '-') });
    {
      await using dying = await database.open({ wrapLog: mortal(dies) });
      await expect(dying.send(draft(title), context)).rejects.toThrow(Died);
    }
    // The first request may still be running.
    await expect(side.send(draft(title), context)).rejects.toMatchObject({ code: 'idempotency_key_in_use' });
    later(11 * SECOND_MS);
    const answer = await side.send(draft(title), context);
    expect(await side.send(draft(title), context)).toEqual(answer);
    const drafted = await articlesTitled(title);
    expect(drafted.map(({ stream }) => stream)).toEqual([`article-${answer.id}`]);
  },
);

test('after a crash, a conditional request recognizes its own change', async ({ database, side }) => {
  const author = await registerUser(side);
  const articleId = await draftArticle(side, author);
  const context = by(as(author), { idempotencyKey: 'fixed', ifVersion: 2 });
  const edit = { type: 'EditArticle', articleId, title: 'Fixed' } as const;
  {
    await using dying = await database.open({
      wrapLog: mortal((stream) => (stream.startsWith('article-') ? 'after' : undefined)),
    });
    await expect(dying.send(edit, context)).rejects.toThrow(Died);
  }
  later(11 * SECOND_MS);
  expect(await side.send(edit, context)).toMatchObject({ id: articleId, version: 3 });
});

test('a late first request gets the response of its retry', async ({ database, side }) => {
  const author = await registerUser(side);
  const articleId = await draftArticle(side, author);
  const context = by(as(author), { idempotencyKey: 'late-first', ifVersion: 2 });
  const edit = { type: 'EditArticle', articleId, title: 'Once' } as const;
  const [reached, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isPaused = false;
  await using slow = await database.open({
    wrapLog: (log) => ({
      ...log,
      async *read(stream, from, to) {
        if (stream === `article-${articleId}` && !isPaused) {
          isPaused = true;
          reached.resolve();
          await goOn.promise;
        }
        yield* log.read(stream, from, to);
      },
    }),
  });
  const first = slow.send(edit, context);
  await reached.promise;
  later(11 * SECOND_MS);
  const repeated = await side.send(edit, context);
  await side.send({ type: 'EditArticle', articleId, title: 'Since' }, by(as(author)));
  goOn.resolve();
  expect(await first).toEqual(repeated);
});

test('a retry that overlaps the first request names the event of that request, whatever followed', async ({
  database,
  side,
}) => {
  const owner = await registerUser(side);
  const { id } = await side.send({ type: 'RegisterWebhook', ...WEBHOOK_FORM }, by(as(owner)));
  const webhookId = id as WebhookId;
  const context = by(as(owner), { idempotencyKey: 'tested-twice' });
  const requested = { type: 'TestWebhook', webhookId } as const;
  const [appending, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  // The first request appends after its retry has searched for the events in vain.
  await using slow = await database.open({
    wrapLog: (log) => ({
      ...log,
      async append(stream, expected, events) {
        if (stream === `webhook-${id}`) {
          appending.resolve();
          await goOn.promise;
        }
        return log.append(stream, expected, events);
      },
    }),
  });
  const first = slow.send(requested, context);
  let looks = 0;
  await using other = await database.open({
    wrapLog: (log) => ({
      ...log,
      async find(stream, event, after) {
        const found = await log.find(stream, event, after);
        if (stream === `webhook-${id}` && ++looks === 1) {
          goOn.resolve();
          await first;
          await side.send({ type: 'EditWebhook', webhookId, description: 'Since' }, by(as(owner)));
        }
        return found;
      },
    }),
  });
  await appending.promise;
  later(11 * SECOND_MS);
  const repeated = await other.send(requested, context);
  const { eventId, version } = await first;
  expect(repeated).toMatchObject({ id, version, eventId });
  const events = (await allEvents(side)).filter(({ stream }) => stream === `webhook-${id}`);
  expect(events.map(({ type }) => type)).toEqual([
    'webhook.registered',
    'webhook.test_requested',
    'webhook.changed',
  ]);
  expect(eventId).toBe(events[1]?.id);
});

test('a retry after a crash finds the events without reading the stream, however long it is', async ({
  database,
  side,
}) => {
  const author = await registerUser(side);
  const articleId = await draftArticle(side, author);
  const context = by(as(author), { idempotencyKey: 'long-since' });
  const edit = { type: 'EditArticle', articleId, title: 'Before the crash' } as const;
  const stream = `article-${articleId}` as StreamName;
  {
    await using dying = await database.open({
      wrapLog: mortal((of) => (of === stream ? 'after' : undefined)),
    });
    await expect(dying.send(edit, context)).rejects.toThrow(Died);
  }
  const data = { articleId, authorId: author, title: 'Since' };
  const since = Array.from({ length: 900 }, () => ({
    id: randomUUID() as EventId,
    event: { type: 'article.edited', data } as const,
  }));
  const metadata = {
    actor: `user:${author}`,
    client: null,
    request: 'r',
    correlation: 'c',
    causation: null,
    at: new Date().toISOString(),
  } as const;
  await side.eventLog.append(stream, 'any', await side.codec.encodeAll(stream, metadata, since));
  let [isKnown, read] = [false, 0];
  await using other = await database.open({
    wrapLog: (log) => ({
      ...log,
      async *read(of, from, to) {
        for await (const page of log.read(of, from, to)) {
          if (isKnown && of === stream) read += page.length;
          yield page;
        }
      },
    }),
  });
  await other.send({ type: 'EditArticle', articleId, title: 'Known here' }, by(as(author)));
  isKnown = true;
  later(11 * SECOND_MS);
  expect(await other.send(edit, context)).toMatchObject({ id: articleId, version: 3 });
  // A page of events beside its own, which may be several.
  expect(read).toBeLessThan(20);
});

test('a retry after a crash returns the stored comment, even if it would be refused now', async ({
  database,
  side,
}) => {
  const author = await registerUser(side);
  const articleId = await draftArticle(side, author);
  const context = by(as(author), { idempotencyKey: 'comment-crash' });
  const comment = { type: 'AddComment', articleId, text: 'Before the crash.' } as const;
  {
    await using dying = await database.open({
      wrapLog: mortal((stream) => (stream.startsWith('comment-') ? 'after' : undefined)),
    });
    await expect(dying.send(comment, context)).rejects.toThrow(Died);
  }
  await side.send({ type: 'UnpublishArticle', articleId }, by(as(author)));
  later(11 * SECOND_MS);
  expect(await side.send(comment, context)).toMatchObject({ version: 1 });
});

test.for(['', 'x'.repeat(256), 'with space', 'line\nbreak', 'ümlaut'])(
  'a key that cannot stand in a header is refused: %j',
  async (idempotencyKey, { side }) => {
    await expect(
      side.send(draft(), by(as(await registerUser(side)), { idempotencyKey })),
    ).rejects.toMatchObject({
      code: 'invalid_command',
    });
  },
);

test('a creation whose first id was taken is found under the next, even if it would be refused now', async ({
  articlesTitled,
  database,
  side,
}) => {
  const author = await registerUser(side);
  const context = by(as(author), { idempotencyKey: 'second-id' });
  let appends = 0;
  const fencing = (log: EventLog): EventLog => ({
    ...log,
    async append(stream, expected, events, when) {
      if (stream.startsWith('article-') && appends === 0)
        await log.append(
          stream,
          expected,
          events.map((event) => ({ ...event, id: crypto.randomUUID() as typeof event.id })),
        );
      return mortal((each) => (each.startsWith('article-') && ++appends === 2 ? 'after' : undefined))(
        log,
      ).append(stream, expected, events, when);
    },
  });
  await using dying = await database.open({ wrapLog: fencing });
  await expect(dying.send(draft('Under the second id'), context)).rejects.toThrow(Died);
  const [, made] = await articlesTitled('Under the second id');
  await side.send({ type: 'DeleteUser', userId: author }, by(as(author)));
  later(60 * SECOND_MS);
  const { id } = await side.send(draft('Under the second id'), context);
  expect(`article-${id}`).toBe(made?.stream);
});
