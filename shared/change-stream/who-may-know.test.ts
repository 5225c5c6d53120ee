import { expect, test } from 'vitest';
import type { StreamName } from '#shared/brands.ts';
import { CATALOGUE } from '#shared/events/catalogue.ts';
import { isPublic } from './who-may-know.ts';

test('what the catalogue calls public is told, and nothing else', () => {
  const told = Object.keys(CATALOGUE).filter((type) => isPublic({ type, stream: 'thing-1' as StreamName }));
  const expected = Object.values(CATALOGUE).filter(({ visibility }) => visibility === 'public');
  expect(told).toEqual(expected.map(({ type }) => type));
});
