import { randomUUID } from 'node:crypto';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { expect } from 'vitest';
import type { Position, UserId } from '#kernel/base/brands.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { openPostgresChangeStream } from '#shared/change-stream/postgres/postgres-change-stream.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { START } from '#shared/event-log/event-log.ts';
import type { Caller } from '#shared/policy.ts';
import { openReadModelNotifier } from '#shared/read-model/read-model.ts';
import { startProjector } from '../../projector/service.ts';
import { type Feed, openFeed } from '../../query/changes/feed.ts';
import type { Reader } from '../../query/changes/lane.ts';
import type { Cohort } from '../../query/changes/renderings.ts';
import { until } from '../../testing/until.ts';
import { createCommandDatabase } from './command-side.ts';
import { createPublishingDatabase } from './migrated-database.ts';
import { POLICY, SCOPES } from './policy.ts';
import { appendRaw, untilProjected } from './projection.ts';

/** A log with a projection, and feeds of its changes. */
export type FeedFixture = AsyncDisposable & {
  open(options?: Partial<Parameters<typeof openFeed>[0]>): Promise<Feed>;
  /** A draft of a user; the id says which one. */
  write(authorId: number): Promise<number>;
  writeAt(authorId: number): Promise<{ readonly id: number; readonly position: Position }>;
  nextId(): number;
  head(): Promise<Position>;
  untilProjected(): Promise<unknown>;
  /** Waits until the feed has read everything written. */
  untilRead(feed: Feed): Promise<void>;
};

export const openFeedFixture = async (): Promise<FeedFixture> => {
  await using opening = new AsyncDisposableStack();
  const side = opening.use(
    await opening.use(await createCommandDatabase({ createDatabase: createPublishingDatabase })).open(),
  );
  const notifier = opening.use(openReadModelNotifier({ url: side.databaseUrl, clock: REAL_TIME }));
  opening.use(
    await startProjector({
      ...side,
      notifier,
      log: pino({ level: 'silent' }),
      clock: REAL_TIME,
      metrics: createMetrics(),
    }),
  );
  const changes = opening.use(openPostgresChangeStream({ ...side, notifier }));
  let lastId = 8_000;
  const head = () => side.eventLog.head();
  const writeAt: FeedFixture['writeAt'] = async (authorId) => {
    lastId += 1;
    const articleId = lastId;
    const data = { articleId, authorId, title: 'T', body: '', tags: [], cover: null };
    const { position } = await appendRaw(side, `article-${articleId}`, {
      type: 'article.drafted',
      data,
      id: randomUUID() as never,
    });
    return { id: articleId, position };
  };
  const resources = opening.move();
  return {
    open: (options = {}) =>
      openFeed({
        domain: side.domain,
        changes,
        moveOnMs: 20,
        log: pino({ level: 'silent' }),
        clock: REAL_TIME,
        metrics: createMetrics(),
        ...options,
      }),
    write: async (authorId) => (await writeAt(authorId)).id,
    writeAt,
    nextId: () => lastId + 1,
    head,
    untilProjected: () => untilProjected(side),
    async untilRead(feed) {
      const end = await head();
      await until(
        () => feed.upTo,
        (upTo) => upTo >= end,
        PATIENCE_MS,
      );
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const PATIENCE_MS = 60_000;

export const user = (userId: number): Caller => ({
  kind: 'user',
  policy: POLICY,
  userId: userId as UserId,
  role: 'author',
  scopes: new Set(SCOPES),
  client: null,
});

export const wordOf = ({ data }: Change) => Number(data.articleId);

/** Renders the ids of articles; for their authors with a marker. */
export const cohort = (key: string, render?: Cohort['render']): Cohort => ({
  key,
  topics: ['all'],
  render:
    render ??
    (async (change, caller) => {
      await nextTurn();
      const isOwn = caller.kind === 'user' && caller.userId === change.resource.ownerId;
      return Buffer.from(`${wordOf(change)}${isOwn ? ' own' : ''}\n`);
    }),
});

export type ReaderOptions = {
  after: Position | 'now';
  by?: Caller;
  of?: Cohort;
  slow?: boolean;
  takesSeveral?: boolean;
};

export type TestReader = {
  readonly received: readonly string[];
  readonly positions: readonly Position[];
  position(): Position | undefined;
  failure(): unknown;
  leave(): void;
  /** Waits until it has received so much. */
  untilReceived(count: number): Promise<unknown>;
};

/** A reader that records its messages, and is slow on request. */
export const createReader = (
  feed: Feed,
  { after, by = user(1), of = cohort('all'), slow = false, takesSeveral = false }: ReaderOptions,
): TestReader => {
  const received: string[] = [];
  const positions: Position[] = [];
  let reached: Position | undefined = after === 'now' ? undefined : after;
  let failure: unknown;
  const reader: Reader = {
    cohort: of,
    caller: by,
    after,
    takesSeveral,
    send(message, position) {
      received.push(...linesIn(message));
      positions.push(position);
      reached = position;
      return slow ? delay(1) : undefined;
    },
    moveOn(position) {
      expect(position).toBeGreaterThanOrEqual(reached ?? START);
      reached = position;
    },
    fail(error) {
      failure = error;
    },
  };
  const membership = feed.join(reader);
  return {
    received,
    positions,
    position: () => reached,
    failure: () => failure,
    leave: () => membership[Symbol.dispose](),
    untilReceived: (count) =>
      until(
        () => received.length,
        (seen) => seen >= count,
        PATIENCE_MS,
      ),
  };
};

const linesIn = (message: Buffer): readonly string[] => message.toString().trimEnd().split('\n');
