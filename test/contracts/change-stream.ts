import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventId, StreamName, UserId, Version } from '#kernel/base/brands.ts';
import type { ChangeStream } from '#shared/change-stream/change-stream.ts';
import { scaled } from '../../testing/load.ts';
import { as, by, draftArticle, registerUser } from '../engines/command-side.ts';
import type { ArticleId } from '../publishing-ids.ts';
import {
  type ChangeEngine,
  type ChangeFixture,
  idsOf,
  publicIds,
  receivedSoFar,
  subscribe,
  write,
} from './change-stream-engine.ts';
import { describeInterruptions } from './change-stream-interruptions.ts';
import { describeKnowledge } from './change-stream-knowledge.ts';

/** The contract of every change stream, whatever its source. */
export const describeChangeStream = (name: string, startEngine: () => Promise<ChangeEngine>): void => {
  describe(`change stream: ${name}`, () => {
    let engine: ChangeEngine;
    let stream: ChangeStream;
    let author: UserId;
    beforeAll(async () => {
      engine = await startEngine();
      stream = await engine.open();
      author = await registerUser(engine.side);
    }, scaled(120_000));
    afterAll(async () => {
      await stream?.[Symbol.asyncDispose]();
      await engine?.[Symbol.asyncDispose]();
    });
    const fixture = (): ChangeFixture => ({ engine, side: engine.side, stream, author });
    describeOrder(fixture);
    describeInterruptions(fixture);
    describeReadiness(fixture);
    describeKnowledge(() => engine);
  });
};

const describeOrder = (fixture: () => ChangeFixture): void => {
  test('delivers every public event once, in the order of the log', async () => {
    const { side, stream } = fixture();
    await using subscriber = subscribe(stream);
    await write(fixture());
    await subscriber.until(await side.eventLog.head());
    expect(idsOf(subscriber.changes())).toEqual(await publicIds(side));
    const positions = subscriber.changes().map(({ position }) => position);
    expect(positions).toEqual(positions.toSorted((one, other) => one - other));
  });

  test('has consecutive pages, each up to its last change or beyond it', async () => {
    const { side, stream } = fixture();
    await using subscriber = subscribe(stream);
    await subscriber.until(await side.eventLog.head());
    let before = 0;
    for (const { changes, upTo } of subscriber.pages) {
      for (const { position } of changes) expect(position > before && position <= upTo).toBe(true);
      expect(upTo).toBeGreaterThan(before);
      before = upTo;
    }
  });

  test('delivers from any position exactly what comes after it', async () => {
    const { engine } = fixture();
    await write(fixture(), 2);
    const all = await receivedSoFar(engine);
    for (const index of [0, Math.floor(all.length / 2), all.length - 2]) {
      const received = await receivedSoFar(engine, all[index]?.position);
      expect(idsOf(received)).toEqual(idsOf(all.slice(index + 1)));
    }
  });

  test('delivers from the current end only later events', async () => {
    const { engine, side, stream } = fixture();
    await receivedSoFar(engine);
    const now = await stream.head();
    await using subscriber = subscribe(stream, now);
    await write(fixture(), 1);
    await subscriber.until(await side.eventLog.head());
    expect(idsOf(subscriber.changes())).toEqual(await publicIds(side, now));
    expect(subscriber.changes().map(({ type }) => type)).toEqual([
      'article.drafted',
      'article.published',
      'comment.added',
    ]);
  });

  test('goes on past a record that Annals has not written', async () => {
    const { side, stream, author } = fixture();
    const articleId = await draftArticle(side, author);
    const before = await side.eventLog.head();
    await using subscriber = subscribe(stream, before);
    const record = { id: randomUUID() as EventId, type: 'article.edited', data: { total: 7 }, metadata: {} };
    await side.eventLog.append(`article-${articleId}` as StreamName, 2 as Version, [record]);
    await write(fixture(), 1);
    await subscriber.until(await side.eventLog.head());
    const [foreign, ...behind] = subscriber.changes();
    expect(foreign).toMatchObject({ id: record.id, data: {}, isParked: true });
    expect(behind.map(({ type }) => type)).toEqual(['article.drafted', 'article.published', 'comment.added']);
  });

  test('skips internal events, and advances past them', async () => {
    const { engine, side, stream, author } = fixture();
    await receivedSoFar(engine);
    const now = await stream.head();
    const draft = {
      type: 'DraftArticle',
      title: 'On engines',
      body: '',
      tags: [],
      cover: null,
      publish: false,
    } as const;
    await side.send(draft, by(as(author), { idempotencyKey: 'inside' }));
    const head = await side.eventLog.head();
    await using subscriber = subscribe(stream, now);
    await subscriber.until(head);
    expect(subscriber.changes().map(({ type }) => type)).toEqual(['article.drafted']);
    expect(subscriber.changes()[0]?.position).toBeLessThan(head);
  });
};

const describeReadiness = (fixture: () => ChangeFixture): void => {
  test('is never ahead of the read model', async () => {
    const { side, stream } = fixture();
    const head = await stream.head();
    const leaving = new AbortController();
    const writing = write(fixture(), 20);
    let upTo = head;
    for await (const page of stream.follow(head, leaving.signal)) {
      const { rows } = await side.pool.query(
        `select position from public.follower_checkpoint where follower = 'projector'`,
      );
      expect(rows[0]?.position).toBeGreaterThanOrEqual(page.upTo);
      upTo = page.upTo;
      await writing;
      if (upTo >= (await side.eventLog.head())) leaving.abort();
    }
  });

  test('delivers nothing while the read model does not move, and everything afterwards', async () => {
    const { engine, side, stream } = fixture();
    await receivedSoFar(engine);
    const held = await engine.holdReadModel();
    const before = await stream.head();
    await using subscriber = subscribe(stream, before);
    await write(fixture(), 3);
    // One cannot wait for an absence; it would have arrived by now.
    await delay(700);
    expect(subscriber.pages).toEqual([]);
    expect(await stream.head()).toBe(before);
    await held[Symbol.asyncDispose]();
    await subscriber.until(await side.eventLog.head());
    expect(idsOf(subscriber.changes())).toEqual(await publicIds(side, before));
  });

  test('delivers only changes that can be read at once', async () => {
    const { side, stream, author } = fixture();
    await using subscriber = subscribe(stream, await stream.head());
    const articleId: ArticleId = await draftArticle(side, author);
    await subscriber.until(await side.eventLog.head());
    const { rows } = await side.pool.query('select status from read_model.articles where id = $1', [
      articleId,
    ]);
    expect(rows).toEqual([{ status: 'published' }]);
  });
};
