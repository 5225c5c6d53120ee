import { expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { StreamName } from '#kernel/base/brands.ts';
import { test } from '../../test/engines/backend.ts';
import { addComment, as, draftArticle } from '../../test/engines/command-side.ts';
import { createPastOpener } from './past.ts';
import { presentOf } from './present.ts';

test('the article of several comments is read once, as is their author', async ({ author, backend }) => {
  const { side } = backend;
  const articleId = await draftArticle(side, author.id);
  const comments = [];
  for (let count = 0; count < 3; count += 1) comments.push(await addComment(side, author.id, articleId));
  const read: StreamName[] = [];
  const eventLog = new Proxy(side.eventLog, {
    get(target, property) {
      const value = Reflect.get(target, property);
      if (property === 'read')
        return (...asked: Parameters<typeof target.read>) => {
          read.push(asked[0]);
          return target.read(...asked);
        };
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const openPast = createPastOpener({
    ...side,
    domain: publishing,
    eventLog,
    readPosition: { reaches: async () => true },
    visibleWithinMs: 0,
  });
  const past = await openPast(await side.eventLog.head(), async () => {});
  for (const id of comments) {
    const row = (await past.row<object>('comment', id)) as Readonly<Record<string, unknown>>;
    expect(await presentOf(publishing, 'comment')(past, row, as(author.id, author.role))).toBeDefined();
  }
  expect(read.toSorted()).toEqual(
    [`article-${articleId}`, ...comments.map((id) => `comment-${id}`), `user-${author.id}`].toSorted(),
  );
});
