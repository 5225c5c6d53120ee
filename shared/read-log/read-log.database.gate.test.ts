import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { expect } from 'vitest';
import { createMetrics } from '#process/observability/metrics.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { test as base } from '../../test/engines/pool.ts';
import { createTestClock } from '../../test/engines/test-clock.ts';
import { appendEntries } from './append.ts';
import { entryOf, type ReadBy } from './entry.ts';
import { noteOf, noting, notingNothing } from './noted.ts';
import { Notes } from './notes.ts';
import { openReadLog, type ReadLog } from './read-log.ts';

const STRICT = { name: 'patient', reads: { only: undefined, ifUnwritable: 'refuse' } } as const;
const LENIENT = { name: 'drug', reads: { only: undefined, ifUnwritable: 'serve' } } as const;
const BY: ReadBy = {
  ...{
    actor: 'user:7',
    reader: 7,
    client: null,
    via: 'rest' as const,
    operation: 'get',
    query: {},
    request: 'r1',
  },
};

const test = base
  .extend('connectionsMax', { scope: 'file' }, 4)
  .extend('clock', () => createTestClock())
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('opened', ({}, { onCleanup }) => {
    const opened = new AsyncDisposableStack();
    onCleanup(() => opened.disposeAsync());
    return opened;
  })
  .extend(
    'open',
    ({ clock, opened, pool }) =>
      async () =>
        opened.use(
          await openReadLog({ pool, clock, log: pino({ level: 'silent' }), metrics: createMetrics() }),
        ),
  )
  .extend('numbers', ({ pool }) => async (kind: string) => {
    const { rows } = await pool.query<{ readonly items: readonly number[] }>(
      'select items from read_log.entry where kind = $1 order by number',
      [kind],
    );
    return rows.flatMap(({ items }) => items);
  });

const read = (readLog: ReadLog, kind: typeof STRICT | typeof LENIENT, id: number) => {
  const notes = new Notes();
  notes.add(kind, id, ['name']);
  return readLog.record(notes, BY);
};

test('several processes append without a gap, and each answer that waits has its entry', async ({
  open,
  pool,
}) => {
  const logs = await Promise.all([open(), open(), open()]);
  const kind = { ...STRICT, name: `many-${randomUUID()}` } as unknown as typeof STRICT;
  await Promise.all(Array.from({ length: 300 }, (_, id) => read(logs[id % 3] as ReadLog, kind, id + 1)));
  const { rows } = await pool.query<{ readonly ids: readonly number[]; readonly dense: boolean }>(
    `select array(select unnest(items) from read_log.entry where kind = $1 order by 1) as ids,
       (select count(*) = max(number) - min(number) + 1 from read_log.entry) as dense`,
    [kind.name],
  );
  expect(rows[0]?.ids).toEqual(Array.from({ length: 300 }, (_, id) => id + 1));
  expect(rows[0]?.dense).toBe(true);
});

test('a batch that is sent again is appended once', async ({ open, pool }) => {
  await open();
  const noted = { kind: { ...STRICT, name: 'twice' }, items: [1, 2], fields: [] };
  const entries = [entryOf(BY, new Date().toISOString(), noted)];
  const writer = randomUUID();
  for (const number of [1, 1, 2]) await appendEntries(pool, { writer, number, entries });
  const { rows } = await pool.query(
    `select count(*)::integer as count from read_log.entry where kind = 'twice'`,
  );
  expect(rows[0]?.count).toBe(2);
});

test('while it cannot be written, strict answers are refused, and the entries of others follow later', async ({
  clock,
  numbers,
  open,
  pool,
}) => {
  const readLog = await open();
  await pool.query('alter table read_log.head rename to head_elsewhere');
  const refused = read(readLog, STRICT, 11);
  expect(read(readLog, LENIENT, 21)).toBe(undefined);
  await expect(refused).rejects.toMatchObject({ code: 'unavailable' });
  expect(read(readLog, LENIENT, 22)).toBe(undefined);
  await pool.query('alter table read_log.head_elsewhere rename to head');
  await clock.advanceUntil(
    1_000,
    () => numbers('drug'),
    (found) => found.length === 2,
  );
  await read(readLog, STRICT, 12);
  expect([await numbers('drug'), await numbers('patient')]).toEqual([[21, 22], [12]]);
});

test('while it is slow, strict answers are refused after a time, and nothing is lost', async ({
  clock,
  numbers,
  open,
  pool,
}) => {
  const readLog = await open();
  const outcomes: string[] = [];
  await inTransaction(pool, async (connection) => {
    // The next batch waits for this lock.
    await connection.query('select from read_log.head for update');
    read(readLog, { ...STRICT, name: 'slow' } as never, 31)?.then(
      () => outcomes.push('shown'),
      ({ code }) => outcomes.push(code),
    );
    expect(read(readLog, { ...LENIENT, name: 'slow' } as never, 32)).toBe(undefined);
    await clock.advanceUntil(
      1_000,
      async () => outcomes,
      ({ length }) => length > 0,
    );
  });
  expect(outcomes).toEqual(['unavailable']);
  await clock.advanceUntil(
    1_000,
    () => numbers('slow'),
    ({ length }) => length === 2,
  );
});

test('what a full memory cannot hold is counted in an entry', async ({ clock, open, pool }) => {
  const readLog = await open();
  await pool.query('alter table read_log.head rename to head_elsewhere');
  for (let id = 1; id <= 21_000; id += 1) void read(readLog, { ...LENIENT, name: 'full' } as never, id);
  await expect(read(readLog, STRICT, 1)).rejects.toMatchObject({ code: 'unavailable' });
  await pool.query('alter table read_log.head_elsewhere rename to head');
  const counted = async () => {
    const { rows } = await pool.query<{ readonly kept: number; readonly missing: number }>(
      `select count(*) filter (where kind = 'full')::integer as kept,
         coalesce(sum((entry::jsonb->>'missing')::integer) filter (where kind = 'missing'), 0)::integer as missing
       from read_log.entry`,
    );
    return rows[0] ?? { kept: 0, missing: 0 };
  };
  const { kept, missing } = await clock.advanceUntil(
    1_000,
    counted,
    (found) => found.kept + found.missing === 21_000,
  );
  expect(kept).toBeLessThan(21_000);
  expect(missing).toBeGreaterThan(0);
});

test('a read that nobody records fails, and a check of a right records nothing', () => {
  const note = noteOf(STRICT);
  expect(() => note?.(1, ['name'])).toThrow('Reads of patient are logged');
  const notes = new Notes();
  noting(notes, () => {
    notingNothing(() => note?.(1, ['name']));
    expect(notes.isEmpty).toBe(true);
    note?.(2, ['name']);
    note?.(3, ['name', 'stage']);
    note?.(2, ['stage']);
  });
  expect(notes.take()).toEqual([{ kind: STRICT, fields: ['name', 'stage'], items: [2, 3] }]);
  expect(noteOf({ name: 'ward' })).toBe(undefined);
});
