import { test as base, expect } from 'vitest';
import type { UserId } from '#kernel/base/brands.ts';
import type { Work } from '#shared/projection/catch-up.ts';
import { digestOf } from '#shared/projection/digest.ts';
import type { ArticleId } from '../publishing-ids.ts';
import {
  addComment,
  as,
  by,
  type CommandSide,
  createCommandDatabase,
  draftArticle,
  registerUser,
} from './command-side.ts';
import { inTheDatabase, LOG_ENGINES, type StartLog } from './log-engines.ts';
import { createPublishingDatabase } from './migrated-database.ts';
import { replayed, startProjecting, untilProjected } from './projection.ts';

/** A command side with a read model that is up to date and not empty. */
export type FilledReadModel = AsyncDisposable & {
  readonly side: CommandSide;
  readonly authors: readonly UserId[];
  /** The input of a rebuild. */
  work(more?: Partial<Work>): Work;
  /** Every possible change of an article and its comments, except deletion. */
  writeSome(author: UserId): Promise<ArticleId>;
  expectReplayed(): Promise<void>;
  /** Another projector takes over. */
  takeOver(): Promise<void>;
};

const never = new AbortController().signal;

export const createFilledReadModel = async (startLog: StartLog): Promise<FilledReadModel> => {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(
    // Tests change its events by SQL, and look at what finds that in a log from before there were MACs.
    await createCommandDatabase({ startLog, createDatabase: createPublishingDatabase, hasMacs: false }),
  );
  const side = opening.use(await database.open());
  let projector = await startProjecting(side);
  opening.defer(() => projector[Symbol.asyncDispose]());
  const authors = await Promise.all(
    Array.from({ length: 4 }, (_, n) => registerUser(side, { name: `Person ${n}` })),
  );
  const writeSome = (author: UserId) => writeAsOne(side, author);
  await Promise.all(authors.map(writeSome));
  await untilProjected(side);
  const resources = opening.move();
  return {
    side,
    authors,
    work: (more = {}) => ({ ...side, signal: never, onProgress() {}, ...more }),
    writeSome,
    async expectReplayed() {
      await untilProjected(side);
      expect(await digestOf(side.pool, 'read_model')).toEqual(await replayed(side));
    },
    async takeOver() {
      const former = projector;
      projector = await startProjecting(side);
      await former[Symbol.asyncDispose]();
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const writeAsOne = async (side: CommandSide, author: UserId): Promise<ArticleId> => {
  const articleId = await draftArticle(side, author);
  const commentId = await addComment(side, author, articleId);
  await side.send({ type: 'EditArticle', articleId, title: `Title of ${articleId}` }, by(as(author)));
  await addComment(side, author, articleId);
  await side.send({ type: 'DeleteComment', commentId }, by(as(author)));
  return articleId;
};

/** A filled read model for each file. */
export const test = base
  .extend('startLog', { scope: 'file' }, () => inTheDatabase)
  .extend('readModel', { scope: 'file' }, async ({ startLog }, { onCleanup }) => {
    const readModel = await createFilledReadModel(startLog);
    onCleanup(() => readModel[Symbol.asyncDispose]());
    return readModel;
  })
  .extend('side', { scope: 'file' }, ({ readModel }) => readModel.side)
  .extend('authors', { scope: 'file' }, ({ readModel }) => readModel.authors);

/** The same on each engine of the log, for `describe.each`. */
export const testOnEngines = LOG_ENGINES.map(
  ([name, startLog]) => [name, test.extend('startLog', { scope: 'file' }, () => startLog)] as const,
);
