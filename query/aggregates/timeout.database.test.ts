import { expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { openPool } from '#shared/database/pool.ts';
import { POLICY } from '../../test/engines/policy.ts';
import { test } from '../../test/engines/read-model-fixture.ts';
import { demandSource, sourcesOf } from '../rows/sources.ts';
import { groupsIn } from './groups.ts';
import { readGroups } from './statement.ts';

const TIMEOUT_MS = 200;

test('an aggregate that takes too long is refused, with advice', async ({ database, pool }) => {
  await using impatient = openPool({
    url: database.url,
    applicationName: 'test',
    connectionsMax: 1,
    statementTimeoutMs: TIMEOUT_MS,
  });
  const asking = {
    source: demandSource(sourcesOf(publishing), 'article'),
    caller: { kind: 'anonymous', policy: POLICY },
    rows: { filter: {} },
    groups: groupsIn({}),
  } as const;
  expect(await readGroups(impatient, asking)).toEqual({
    groups: [{ keys: [], values: [0] }],
    hasMore: false,
  });
  await pool.query('begin; lock table read_model.articles');
  try {
    await expect(readGroups(impatient, asking)).rejects.toMatchObject({
      code: 'invalid_parameter',
      message: 'This takes longer than 5 seconds: narrow it by filters, or declare a view.',
      headers: {},
    });
  } finally {
    await pool.query('rollback');
  }
});
