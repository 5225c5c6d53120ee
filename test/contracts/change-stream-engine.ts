import type { Position, UserId } from '#kernel/base/brands.ts';
import type { Change, ChangePage, ChangeStream } from '#shared/change-stream/change-stream.ts';
import { openPostgresChangeStream } from '#shared/change-stream/postgres/postgres-change-stream.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { START } from '#shared/event-log/event-log.ts';
import { Notifier } from '#shared/notifier.ts';
import { isPublic } from '#shared/visibility/may-see.ts';
import { until } from '../../testing/until.ts';
import {
  addComment,
  allRecorded,
  type CommandSide,
  createCommandDatabase,
  draftArticle,
} from '../engines/command-side.ts';
import type { StartLog } from '../engines/log-engines.ts';
import { startProjecting, untilProjected } from '../engines/projection.ts';

/**
 * The fixtures of the contract suite of change streams: a log and a read model of its own, and one stream per
 * process.
 */
export type ChangeEngine = AsyncDisposable & {
  readonly side: CommandSide;
  /** As another process would. */
  open(): Promise<ChangeStream>;
  /** The read model does not move until this is disposed. */
  holdReadModel(): Promise<AsyncDisposable>;
  /** The source of changes is stopped hard, and continues from its state. */
  disturb(): Promise<void>;
};

/** A log and a read model, whose changes come from the log itself. */
export const startChangeEngine = async (startLog?: StartLog): Promise<ChangeEngine> => {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createCommandDatabase({ startLog }));
  const side = opening.use(await database.open());
  let projector = await startProjecting(side);
  opening.defer(() => projector[Symbol.asyncDispose]());
  const resources = opening.move();
  return {
    side,
    open: async () => openPostgresChangeStream({ ...side, notifier: new Notifier(REAL_TIME) }),
    async holdReadModel() {
      await untilProjected(side);
      await projector[Symbol.asyncDispose]();
      return {
        async [Symbol.asyncDispose]() {
          projector = await startProjecting(side);
        },
      };
    },
    async disturb() {
      await side.pool.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      );
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** Subscribes to a change stream; the pages arrive in the background. */
export const subscribe = (stream: ChangeStream, after: Position = START) => {
  const pages: ChangePage[] = [];
  const leaving = new AbortController();
  const following = (async () => {
    for await (const page of stream.follow(after, leaving.signal)) pages.push(page);
  })();
  // A failure is reported where it is awaited; it must not end the test run before.
  following.catch(() => {});
  const upTo = () => pages.at(-1)?.upTo ?? after;
  return {
    pages,
    changes: (): readonly Change[] => pages.flatMap(({ changes }) => changes),
    async until(position: Position): Promise<void> {
      await Promise.race([until(upTo, (reached) => reached >= position, 40_000), following]);
    },
    leave: () => leaving.abort(),
    left: () => following,
    async [Symbol.asyncDispose]() {
      leaving.abort();
      await following;
    },
  };
};

/** All currently available changes after a position. */
export const receivedSoFar = async (
  { side, open }: ChangeEngine,
  after: Position = START,
): Promise<readonly Change[]> => {
  await using stream = await open();
  await using subscriber = subscribe(stream, after);
  await subscriber.until(await side.eventLog.head());
  return subscriber.changes();
};

/** The ids of all public events in the log, in order. */
export const publicIds = async (side: CommandSide, after: Position = START): Promise<readonly string[]> =>
  (await allRecorded(side))
    .filter((event) => event.position > after && isPublic(side.domain, event))
    .map(({ id }) => id);

export const idsOf = (changes: readonly Change[]): readonly string[] => changes.map(({ id }) => id);

/** The shared fixtures of the suite. */
export type ChangeFixture = {
  readonly engine: ChangeEngine;
  readonly side: CommandSide;
  readonly stream: ChangeStream;
  readonly author: UserId;
};

/** Articles with a comment each, written in parallel. */
export const write = async ({ side, author }: ChangeFixture, articles = 5): Promise<void> => {
  const writeOne = async () => addComment(side, author, await draftArticle(side, author));
  await Promise.all(Array.from({ length: articles }, writeOne));
};
