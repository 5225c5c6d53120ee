import { expect } from 'vitest';
import { inTransaction } from '#shared/database/transaction.ts';
import { START } from '#shared/event-log/event-log.ts';
import { tables } from '../../test/engines/tables.ts';
import { test as base } from '../../test/engines/verified-read-model.ts';
import { createFold } from './fold.ts';
import { createFoldTables } from './fold-tables.ts';
import { readLog } from './read-log.ts';

const test = base
  /** All states after the whole log, with a maximum weight in memory. */
  .extend('foldWith', { scope: 'file' }, ({ side }) => async (schema: string, weightMax: number) => {
    const { pool, eventLog, codec } = side;
    await pool.query(`create schema ${schema}`);
    await inTransaction(pool, (connection) => createFoldTables(connection, tables, schema));
    const fold = createFold({ pool, tables, schema, isSkipped: () => false, weightMax });
    const reading = { eventLog, codec, tables, signal: new AbortController().signal, onHole() {} };
    for await (const { prepared } of readLog(reading, { after: START, upTo: await eventLog.head() })) {
      // One event at a time, so that evicted states are needed again.
      for (const event of prepared.own) {
        const decoded = prepared.decoded.filter(({ id }) => id === event.id);
        await fold.take({ own: [event], decoded, damaged: [] });
      }
    }
    await fold.save();
    const states = tables.all.map(({ name }) => `select '${name}' as kind, * from ${schema}.fold_${name}`);
    const { rows } = await pool.query(`${states.join(' union all ')} order by 1, 2`);
    return rows;
  });

test('the deciders’ states are the same, however few are kept in memory', async ({ foldWith }) => {
  const held = await foldWith('all_held', 1_000_000);
  expect(held.length).toBeGreaterThan(15);
  expect(await foldWith('nothing_held', 1)).toEqual(held);
});

test('no secret and no hidden value of a webhook is stored', async ({ side }) => {
  const { rows } = await side.pool.query<{ state: string }>('select state from all_held.fold_webhooks');
  expect(rows.map(({ state }) => state).join()).not.toMatch(/whsec_|of\.tokens/);
  expect(rows.some(({ state }) => state.includes('X-Team'))).toBe(true);
});
