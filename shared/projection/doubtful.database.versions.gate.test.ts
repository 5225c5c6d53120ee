import fc from 'fast-check';
import { expect } from 'vitest';
import type { Pool } from '#shared/database/pool.ts';
import { test } from '../../test/engines/pool.ts';
import { doubtfulAmong } from './doubtful.ts';

const isRefused = async (pool: Pool, type: string, value: unknown): Promise<boolean> => {
  const asking = pool.query(`select from json_to_recordset($1) as p (value ${type})`, [
    JSON.stringify([{ value }]),
  ]);
  return asking.then(
    () => false,
    () => true,
  );
};

const isDoubtful = (type: string, value: unknown): boolean =>
  doubtfulAmong({ value: type }, [{ value }]).length > 0;

const two = (max: number) => fc.integer({ min: 0, max }).map((n) => String(n).padStart(2, '0'));
const year = fc.oneof(
  fc.constantFrom('0000', '0001', '1900', '2000', '2023', '2024', '9999'),
  fc.integer({ min: 1_000, max: 9_999 }).map(String),
);
const fraction = fc.constantFrom('', '.000', '.999', '.999999', '.1234567');
const moment = fc
  .tuple(year, two(13), two(32), two(25), two(61), two(61), fraction, fc.constantFrom('Z', '+25:00', ''))
  .map(
    ([y, month, day, hour, minute, second, part, zone]) =>
      `${y}-${month}-${day}T${hour}:${minute}:${second}${part}${zone}`,
  );
const value = fc.oneof(
  ...[
    moment,
    fc.constantFrom('', 'x', '1', 'true'),
    fc.boolean(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  ],
  ...[
    fc.constantFrom(2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 63, 1.5, null),
    fc.array(fc.oneof(fc.string(), fc.integer()), { maxLength: 3 }),
  ],
);
const type = fc.constantFrom(
  'timestamptz',
  'integer',
  'bigint',
  'numeric',
  'boolean',
  'text[]',
  'date',
  'uuid',
);

test('no value that the database refuses counts as certain', async ({ pool }) => {
  await fc.assert(
    fc.asyncProperty(type, fc.oneof(value, moment), async (column, given) => {
      if (await isRefused(pool, column, given))
        expect(isDoubtful(column, given), `${column} ${given}`).toBe(true);
    }),
    { numRuns: 200 },
  );
});

test.each([
  ['timestamptz', '2024-02-29T23:59:59.999Z'],
  ['timestamptz', '2026-12-31T00:00:00.000Z'],
  ['bigint', 2 ** 53 - 1],
  ['integer', 2 ** 31 - 1],
  ['numeric', -1],
  ['boolean', false],
  ['text[]', ['one', 'two']],
])('a %s of %j is certain, and shown to no database', (column, given) => {
  expect(isDoubtful(column, given)).toBe(false);
});

test.each([
  ['timestamptz', '0000-02-03T04:05:06.000Z'],
  ['timestamptz', '2023-02-29T00:00:00.000Z'],
  ['timestamptz', '2026-04-31T00:00:00.000Z'],
  ['timestamptz', '2026-01-00T00:00:00.000Z'],
  ['integer', 2 ** 31],
  ['bigint', 2 ** 63],
  ['date', '2026-02-30'],
])('a %s of %j is doubtful', (column, given) => {
  expect(isDoubtful(column, given)).toBe(true);
});
