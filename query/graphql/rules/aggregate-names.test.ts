import { expect, test } from 'vitest';
import { aggregateNames } from './names.ts';

test('a field does not take the name of a measure or a period, wherever it stands', () => {
  const field = (name: string) => ({ name, period: undefined });
  const all = [
    field('count'),
    field('sumOfTotal'),
    { name: 'month(createdAt)', period: 'month' },
    field('monthOfCreatedAt'),
    { name: 'count', of: 'count' },
    { name: 'sum(total)', of: 'sum' },
  ];
  const names = aggregateNames(all);
  expect(names.get('COUNT')).toBe(all[4]);
  expect(names.get('COUNT_')).toBe(all[0]);
  expect(names.get('SUM_OF_TOTAL')).toBe(all[5]);
  expect(names.get('SUM_OF_TOTAL_')).toBe(all[1]);
  expect(names.get('MONTH_OF_CREATED_AT')).toBe(all[2]);
  expect(names.get('MONTH_OF_CREATED_AT_')).toBe(all[3]);
});
