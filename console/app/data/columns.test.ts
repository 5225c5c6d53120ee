import { expect, test } from 'vitest';
import type { FieldFacts } from '../../domain-facts.ts';
import { chosenColumns, columnsOf, sortedBy, sortText } from './columns.ts';

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

test('a list has the most informative columns, without its title, long texts and what all items share', () => {
  const columns = columnsOf({ fields: FIELDS, label: 'title' }, 'above');
  expect(columns.map(({ name }) => name)).toEqual(['status', 'owner', 'total', 'made', 'late', 'updatedAt']);
});

test('users may choose other columns, which keep the same order', () => {
  const names = (given: string | null) =>
    chosenColumns({ fields: FIELDS, label: 'title' }, given).map(({ name }) => name);
  expect(names('createdAt,note,status,body,nothing')).toEqual(['status', 'note', 'createdAt']);
  expect(names('')).toEqual([]);
  expect(names(null)).toContain('updatedAt');
});

test('a column head links to the opposite order', () => {
  const sorts = ['-createdAt', 'createdAt', '-made', 'made', 'total'];
  const of = (name: string, sort: string) => sortedBy(field(name, 'instant'), sorts, sort);
  expect(of('made', '-createdAt')).toEqual({ state: 'none', next: '-made' });
  expect(of('made', '-made')).toEqual({ state: 'descending', next: 'made' });
  expect(of('made', 'made')).toEqual({ state: 'ascending', next: '-made' });
  expect(of('total', 'total')).toEqual({ state: 'ascending', next: 'total' });
  expect(of('note', 'made')).toBe(undefined);
});

test('orders are described in words', () => {
  expect(sortText('-made', () => 'Made')).toBe('Made, latest first');
  expect(sortText('made', () => 'Made')).toBe('Made, earliest first');
});
