import { expect, test } from 'vitest';
import { OPERATIONS } from '../../test/engines/operations.ts';
import type { RestOperation } from './operation.ts';

/** Every parameter that takes a time. */
const TIMES = Object.entries(OPERATIONS as Readonly<Record<string, RestOperation>>).flatMap(
  ([id, { query }]) =>
    Object.entries(query?.shape ?? {})
      .filter(
        ([, schema]) =>
          schema.safeParse('2026-11-21T10:15:00Z').success && !schema.safeParse('2026-11-21').success,
      )
      .map(([name, schema]) => [`${id} ${name}`, schema] as const),
);

test('there are some', () => {
  expect(TIMES.map(([name]) => name)).toEqual(
    expect.arrayContaining(['listEvents since', 'listDeliveries until', 'getArticle at']),
  );
});

test.each(TIMES)('%s takes every spelling of RFC 3339', (_, schema) => {
  for (const text of ['2026-11-21t10:15:00z', '2026-11-21T10:15:00.123456Z', '2026-11-21t12:15:00+02:00'])
    expect(schema.safeParse(text).success).toBe(true);
  for (const text of ['2026-11-21 10:15', '2026-02-30T00:00:00Z', '2026-11-21T25:00:00Z'])
    expect(schema.safeParse(text).success).toBe(false);
});
