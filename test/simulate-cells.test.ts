import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { simulate } from '../scripts/cells/simulate.ts';
import { tables } from '../scripts/cells/tables.ts';

const GIVEN = { seed: 1, cells: 10, tenants: 500, events: 1_000_000, days: 10 };

test('docs/scaling.md has the tables that `npm run simulate-cells` prints', () => {
  const page = readFileSync(new URL('../docs/scaling.md', import.meta.url), 'utf8');
  for (const table of tables()) expect(page).toContain(table);
});

test('the same seed gives the same outcome, and every event is in the log of a cell', () => {
  const still = simulate({ ...GIVEN, moves: false });
  expect(simulate({ ...GIVEN, moves: false })).toEqual(still);
  expect(simulate({ ...GIVEN, seed: 2, moves: false })).not.toEqual(still);
  expect(still.moves).toBe(0);
  expect(still.logs.max * GIVEN.cells).toBeGreaterThan(GIVEN.events);
});

test('moves even out what cells do, as far as the largest tenant lets them', () => {
  const [still, moving] = [simulate({ ...GIVEN, moves: false }), simulate({ ...GIVEN, moves: true })];
  expect(moving.moves).toBeGreaterThan(0);
  expect(moving.largestTenant).toBeCloseTo(still.largestTenant, 9);
  expect(moving.spread.max).toBeLessThan(still.spread.max);
  expect(moving.spread.max).toBeGreaterThanOrEqual(moving.largestTenant);
});
