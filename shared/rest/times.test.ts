import { expect, test } from 'vitest';
import * as z from 'zod';
import { DESCRIBED } from '../../test/engines/operations.ts';

const ALL = Object.entries(DESCRIBED);

/** Every parameter that takes a time. */
const TIMES = ALL.flatMap(([id, { query }]) =>
  Object.entries(query?.shape ?? {})
    .filter(
      ([, schema]) =>
        schema.safeParse('2026-11-21T10:15:00Z').success && !schema.safeParse('2026-11-21').success,
    )
    .map(([name, schema]) => [`${id} ${name}`, schema] as const),
);

/** Every field of a form that takes a time. */
const TIMES_OF_FORMS = ALL.flatMap(([id, { body = {} }]) =>
  Object.values(body).flatMap((form) =>
    Object.entries(form instanceof z.ZodObject ? (form.shape as Readonly<Record<string, z.ZodType>>) : {})
      .filter(
        ([, schema]) =>
          schema.safeParse('2026-11-21T10:15:00.000Z').success && !schema.safeParse('2026-11-21').success,
      )
      .map(([name, schema]) => [`${id} ${name}`, schema] as const),
  ),
);

test('there are some', () => {
  expect(TIMES_OF_FORMS.map(([name]) => name)).toEqual(
    expect.arrayContaining(['createPersonalToken expiresAt', 'redriveWebhook since']),
  );
  expect(TIMES.map(([name]) => name)).toEqual(
    expect.arrayContaining(['listEvents since', 'listDeliveries until', 'getArticle at']),
  );
});

test.each([...TIMES, ...TIMES_OF_FORMS])('%s takes every spelling of RFC 3339', (_, schema) => {
  for (const text of ['2026-11-21t10:15:00z', '2026-11-21T10:15:00.123456Z', '2026-11-21t12:15:00+02:00'])
    expect(schema.safeParse(text).success).toBe(true);
  for (const text of ['2026-11-21 10:15', '2026-02-30T00:00:00Z', '2026-11-21T25:00:00Z'])
    expect(schema.safeParse(text).success).toBe(false);
});
