import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { UserId } from '#kernel/base/brands.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import type { Command } from '#shared/commands/command.ts';
import { as, by } from '../engines/command-side.ts';
import type { ArticleId, CommentId } from '../publishing-ids.ts';

const WRITERS = 3;
/** Between two commands of a writer, so that a subscriber has to wait for some events and not for others. */
const PAUSE_MS_MAX = 60;

type Options = {
  readonly random: () => number;
  readonly gateway: CommandGateway;
  readonly authors: readonly [UserId, UserId];
  /** Is constantly commented and changed. */
  readonly article: ArticleId;
};

/** `failed` never resolves; it rejects if a command was refused. */
type Writers = { readonly failed: Promise<never>; end(): Promise<void> };

/** Authors who write, publish, comment on each other, and unpublish, until they are ended. */
export const startWriters = ({ random, gateway, authors: [ada, bob], article }: Options): Writers => {
  const ending = new AbortController();
  const send = async (author: UserId, command: Command): Promise<number> => {
    const { id } = await gateway.send(command, by(as(author)));
    await delay(random() * PAUSE_MS_MAX);
    return id;
  };
  const write = async ([author, other]: readonly [UserId, UserId]): Promise<void> => {
    const text = randomUUID();
    const draft = {
      type: 'DraftArticle',
      title: text,
      body: text,
      tags: [],
      cover: null,
      publish: random() < 0.5,
    } as const;
    const articleId = (await send(author, draft)) as ArticleId;
    await send(author, { type: 'EditArticle', articleId, title: `${text} again` });
    await send(author, { type: 'PublishArticle', articleId });
    const commentId = (await send(other, { type: 'AddComment', articleId, text })) as CommentId;
    await send(author, { type: 'AddComment', articleId: article, text });
    await send(other, { type: 'EditComment', commentId, text: `${text} again` });
    if (random() < 0.3) await send(author, { type: 'UnpublishArticle', articleId });
    await send(author, { type: 'EditArticle', articleId, title: text });
    if (random() < 0.3) await send(author, { type: 'DeleteArticle', articleId });
    await send(ada, { type: 'EditArticle', articleId: article, title: text });
  };
  const writing = Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      while (!ending.signal.aborted) await write(writer % 2 === 0 ? [ada, bob] : [bob, ada]);
    }),
  );
  const failed = writing.then(() => new Promise<never>(() => {}));
  failed.catch(() => {});
  return {
    failed,
    async end() {
      ending.abort();
      await writing;
    },
  };
};
