import { expect } from 'vitest';
import { test as base } from '../../test/engines/verified-read-model.ts';

const test = base.extend('model', { scope: 'file' }, ({ readModel }) => readModel);

test('an event at a position below 1 is found, also without the read model', async ({ model }) => {
  const stream = `article-${model.article}`;
  const before = await model.verify({ isOfReadModel: false });
  await model.side.pool.query(
    `insert into event_log.event (position, stream, version, id, type, data, metadata, bytes)
     select -1, stream, 99, gen_random_uuid(), type, data, metadata, bytes from event_log.event where stream = $1 and version = 1`,
    [stream],
  );
  const { findings } = await model.verify({ isOfReadModel: false });
  expect(findings.total).toBe(before.findings.total + 1);
  expect(findings.listed).toContainEqual({
    ...{ kind: 'event_not_authentic', type: 'article.drafted', stream, version: 99, position: 0 },
  });
});
