import { expect, test } from 'vitest';
import type { FieldFacts } from '../../domain-facts.ts';
import { columnsOf, sortText } from './columns.ts';

const field = (name: string, type: FieldFacts['type'], more: Partial<FieldFacts> = {}): FieldFacts => ({
  name,
  wire: name,
  title: name,
  type,
  ...more,
});

const FIELDS = [
  field('title', 'text'),
  field('body', 'text', { hasLines: true }),
  field('note', 'text'),
  field('made', 'instant'),
  field('picture', 'upload'),
  field('total', 'integer'),
  field('above', 'ref'),
  field('owner', 'ref'),
  field('status', 'states'),
  field('late', 'boolean'),
];

test('a list has the columns that tell most, without its title, long texts and what all have in common', () => {
  const columns = columnsOf({ fields: FIELDS, label: 'title' }, 'above');
  expect(columns.map(({ name }) => name)).toEqual(['status', 'owner', 'total', 'made', 'late']);
});

test('orders are said in words', () => {
  expect(sortText('-made', () => 'Made')).toBe('Made, latest first');
  expect(sortText('made', () => 'Made')).toBe('Made, earliest first');
});
