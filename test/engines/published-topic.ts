// Over 200 lines, because it is one fixture: a topic, its publishers and subscribers, and the waits for each.
import { setTimeout as delay } from 'node:timers/promises';
import { test as base, expect } from 'vitest';
import { openKafkaChangeStream } from '#adapters/kafka/kafka-change-stream.ts';
import { parseKafkaUrl } from '#adapters/kafka/kafka-url.ts';
import { publishing } from '#domain/publishing.ts';
import type { Position, UserId } from '#kernel/base/brands.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import type { Change, ChangeStream } from '#shared/change-stream/change-stream.ts';
import { openPostgresChangeStream } from '#shared/change-stream/postgres/postgres-change-stream.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { START } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { Notifier } from '#shared/notifier.ts';
import { startConfiguredPublisher } from '../../projector/role.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { captureLog } from '../serve.ts';
import {
  addComment,
  type CommandDatabase,
  type CommandSide,
  createCommandDatabase,
  draftArticle,
  registerUser,
} from './command-side.ts';
import { startKafka } from './kafka.ts';
import { startProjecting, untilProjected } from './projection.ts';

/** A command side and a projector, whose changes are published to a topic and read from there. */
export type PublishedTopic = AsyncDisposable & {
  readonly side: CommandSide;
  readonly settings: Readonly<Record<string, string>>;
  readonly url: string;
  startPublisher(metrics?: ReturnType<typeof createMetrics>): Promise<AsyncDisposable>;
  openStream(): Promise<ObservedStream>;
  /** Writes `articles` articles, each with a comment. */
  write(articles?: number): Promise<void>;
  /** The changes so far, according to the log. */
  changes(after?: Position): Promise<readonly Change[]>;
};

/** A change stream whose access to the log can be closed, which shows that a change arrives through Kafka. */
type ObservedStream = ChangeStream & {
  closeLog(): void;
  openLog(): void;
  /** The current number of followers of the log. */
  followers(): number;
};

export const createPublishedTopic = async (url: string): Promise<PublishedTopic> => {
  await using opening = new AsyncDisposableStack();
  const database: CommandDatabase = opening.use(await createCommandDatabase());
  const side = opening.use(await database.open());
  opening.use(await startProjecting(side));
  const author = await registerUser(side);
  const fromLog = () => openPostgresChangeStream({ ...side, notifier: new Notifier(REAL_TIME) });
  const { log } = captureLog();
  const resources = opening.move();
  return {
    side,
    url,
    settings: { ...database.settings, CHANGE_STREAM_URL: url },
    startPublisher: (metrics = createMetrics()) =>
      startConfiguredPublisher({
        ...{ ...side, notifier: new Notifier(REAL_TIME), log, metrics, url },
        publicUrl: 'https://annals.example',
      }),
    openStream: () => openStream(side, url, fromLog()),
    write: (articles = 5) => write(side, author, articles),
    changes: (after = START) => changesIn(side, fromLog(), after),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const openStream = async (
  { eventLog }: CommandSide,
  url: string,
  fromLog: ChangeStream,
): Promise<ObservedStream> => {
  const address = parseKafkaUrl(url);
  if (!address) throw new Error(`${url} is no Kafka`);
  let isClosed = false;
  let followers = 0;
  const closable: ChangeStream = {
    ...fromLog,
    async *follow(after, signal) {
      followers += 1;
      try {
        for await (const page of fromLog.follow(after, signal)) {
          while (isClosed && !signal.aborted) await delay(10);
          if (signal.aborted) return;
          yield page;
        }
      } finally {
        followers -= 1;
      }
    },
  };
  const { log } = captureLog();
  const stream = await openKafkaChangeStream({
    address,
    identity: eventLog.identity,
    catalogue: catalogueOf(publishing),
    log,
    clock: REAL_TIME,
    fromLog: closable,
    silenceMaxMs: scaled(PATIENCE_MS),
  });
  return {
    ...stream,
    closeLog: () => {
      isClosed = true;
    },
    openLog: () => {
      isClosed = false;
    },
    followers: () => followers,
  };
};

/** A busy machine must not make anybody fall back to the log. */
const PATIENCE_MS = 120_000;

const write = async (side: CommandSide, author: UserId, articles: number): Promise<void> => {
  const ids = await Promise.all(Array.from({ length: articles }, () => draftArticle(side, author)));
  await Promise.all(ids.map((articleId) => addComment(side, author, articleId)));
};

const changesIn = async (
  side: CommandSide,
  fromLog: ChangeStream,
  after: Position,
): Promise<readonly Change[]> => {
  await using stream = fromLog;
  await untilProjected(side);
  const head = await stream.head();
  const changes: Change[] = [];
  if (after >= head) return changes;
  for await (const page of stream.follow(after, new AbortController().signal)) {
    changes.push(...page.changes);
    if (page.upTo >= head) break;
  }
  return changes;
};

type Subscriber = AsyncDisposable & {
  readonly received: readonly Change[];
  readonly last: () => Position;
};

export const subscribe = (stream: ChangeStream, after: Position = START): Subscriber => {
  const leaving = new AbortController();
  const received: Change[] = [];
  const following = (async () => {
    for await (const { changes } of stream.follow(after, leaving.signal)) received.push(...changes);
  })();
  return {
    received,
    last: () => received.at(-1)?.position ?? after,
    async [Symbol.asyncDispose]() {
      leaving.abort();
      await following;
    },
  };
};

const DEADLINE_MS = 60_000;

/** Waits until the last of the changes has been received. */
export const untilReceived = async (subscriber: Subscriber, changes: readonly Change[]): Promise<void> => {
  const end = changes.at(-1)?.position ?? START;
  await until(subscriber.last, (last) => last >= end, DEADLINE_MS);
};

/** These changes, and no others, arrive. */
export const demandReceived = async (subscriber: Subscriber, changes: readonly Change[]): Promise<void> => {
  await untilReceived(subscriber, changes);
  expect(subscriber.received).toEqual(changes);
};

/** Writes until a subscriber, the only one, receives from Kafka; from then on the stream cannot use the log. */
export const closeLogInStep = async (
  topic: PublishedTopic,
  stream: ObservedStream,
  subscriber: Subscriber,
): Promise<void> => {
  await until(
    async () => {
      await topic.write(1);
      await untilReceived(subscriber, await topic.changes(subscriber.last()));
      return stream.followers();
    },
    (followers) => followers === 0,
    DEADLINE_MS,
  );
  stream.closeLog();
  // Earlier changes from the log may not have come through Kafka yet; this one can only come through Kafka,
  // and after them.
  await topic.write(1);
  await untilReceived(subscriber, await topic.changes(subscriber.last()));
};

/** Waits until everything is in the topic, according to the publisher's checkpoint. */
export const untilPublished = async ({ side: { eventLog, pool } }: PublishedTopic): Promise<void> => {
  const head = await eventLog.head();
  const published = async () =>
    (
      await pool.query<{ position: number }>(
        `select position from public.follower_checkpoint where follower = 'publisher'`,
      )
    ).rows[0]?.position;
  await until(published, (position = 0) => position >= head, DEADLINE_MS);
};

/** A broker for each file, and a topic on it. Tests start its publishers. */
export const test = base
  .extend('openKafka', { scope: 'file' }, () => startKafka)
  .extend('kafka', { scope: 'file' }, async ({ openKafka }, { onCleanup }) => {
    const kafka = await openKafka();
    onCleanup(() => kafka[Symbol.asyncDispose]());
    return kafka;
  })
  .extend('topic', { scope: 'file' }, async ({ kafka }, { onCleanup }) => {
    const topic = await createPublishedTopic(kafka.url('changes'));
    onCleanup(() => topic[Symbol.asyncDispose]());
    return topic;
  });
