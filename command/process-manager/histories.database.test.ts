import { expect } from 'vitest';
import type { StreamName } from '#kernel/base/brands.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import { as, by, draftArticle } from '../../test/engines/command-side.ts';
import { test } from '../../test/engines/processes.ts';
import { createHistories } from './histories.ts';

test('an aggregate is read as a whole once, and then only from its last known event', async ({
  author,
  side,
}) => {
  const kind = side.domain.kinds.article as Kind;
  const articleId = await draftArticle(side, author);
  const stream = `article-${articleId}` as StreamName;
  const edit = (title: string) => side.send({ type: 'EditArticle', articleId, title }, by(as(author)));
  for (let time = 0; time < 20; time += 1) await edit(`Title ${time}`);
  let read = 0;
  const eventLog: Pick<typeof side.eventLog, 'read'> = {
    async *read(...asked) {
      for await (const page of side.eventLog.read(...asked)) {
        read += page.length;
        yield page;
      }
    },
  };
  const dependencies = { domain: side.domain, eventLog, codec: side.codec };
  const historyOf = createHistories(dependencies);
  expect(await historyOf(kind, stream)).toHaveLength(22);
  expect(read).toBe(22);
  for (let time = 0; time < 3; time += 1) {
    await edit(`Again ${time}`);
    await historyOf(kind, stream);
  }
  expect(read).toBe(22 + 3 * 2);
  expect(await historyOf(kind, stream)).toEqual(await createHistories(dependencies)(kind, stream));
});
