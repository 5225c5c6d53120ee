import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { evolveOf } from '#kernel/decide/evolve.ts';
import type { DecodedEvent } from '#shared/events/codec.ts';
import { expenses } from '../../examples/expenses/domain/domain.ts';
import { noRow, rowAfter, rowFoldOf, rowStored, storedRow } from './row-fold.ts';
import { demandTable, tablesOf } from './tables.ts';

const table = demandTable(tablesOf(expenses), 'claim');

const of = { claimId: 1, employeeId: 2 };
const events = [
  { type: 'claim.drafted', data: { ...of, teamId: 3, purpose: 'A journey' } },
  ...Array.from({ length: 20 }, (_, n) => ({
    type: 'claim.itemAdded',
    data: {
      ...of,
      itemId: n + 1,
      spentOn: '2026-03-09',
      category: 'travel',
      amount: 100 + n,
      note: `Note ${n}`,
      receipt: null,
    },
  })),
  { type: 'claim.itemRemoved', data: { ...of, itemId: 4 } },
  { type: 'claim.itemChanged', data: { ...of, itemId: 5, amount: 7 } },
  { type: 'claim.itemRemoved', data: { ...of, itemId: 20 } },
  { type: 'claim.submitted', data: { ...of, teamId: 3, total: 2_000 } },
].map(
  (event, index) =>
    ({
      ...event,
      version: index + 1,
      position: index + 1,
      metadata: { at: `2026-01-01T00:00:${10 + index}.000Z`, actor: 'user:2' },
    }) as never as DecodedEvent,
);

test('a fold that continues from its snapshot equals one of all events, including its items', () => {
  const whole = events.reduce((fold, event) => rowAfter(table, fold, event), noRow(table));
  expect(whole.items.values().next().value?.size).toBeGreaterThan(10);
  for (let cut = 0; cut <= events.length; cut += 1) {
    const before = events.slice(0, cut).reduce((fold, event) => rowAfter(table, fold, event), noRow(table));
    const kept = rowStored(table, JSON.parse(JSON.stringify(storedRow(before))));
    expect(events.slice(cut).reduce((fold, event) => rowAfter(table, fold, event), kept)).toEqual(whole);
  }
});

test('a snapshot belongs to the declaration that made it', () => {
  const other = { ...table, columns: { ...table.columns, more: 'text' } };
  expect(rowFoldOf(other).definition).not.toBe(rowFoldOf(table).definition);
  expect(rowFoldOf(table)).toEqual({ fold: 'row', definition: expect.any(String) });
});

test('kernel kinds can be folded as well', () => {
  for (const { aggregate } of tablesOf(publishing).all) expect(evolveOf(aggregate)).toBeTypeOf('function');
});
