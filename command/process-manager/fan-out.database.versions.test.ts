import { expect, test } from 'vitest';
import type { EventId, Position, StreamName } from '#kernel/base/brands.ts';
import { openPool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { createCommandDatabase } from '../../test/engines/command-side.ts';
import { budgets } from '../../test/toy/budgets.ts';
import { type Happened, notePage, pagesOf } from './fan-out.ts';

const happened = ({ position, stream }: RecordedEvent): Happened => ({
  ...{ parent: stream, type: 'team.closed', position, references: ['claim.team'], isEnd: false },
  cause: { id: crypto.randomUUID() as EventId, metadata: {} as never },
});

test('a page of events takes one query, and each page of referring aggregates another', async () => {
  await using database = await createCommandDatabase();
  await using pool = openPool({
    url: database.settings.DATABASE_URL ?? '',
    applicationName: 'test',
    connectionsMax: 2,
  });
  // Starts and stops a process that makes the declaration.
  await (await database.open({ domain: budgets }))[Symbol.asyncDispose]();
  const events = Array.from(
    { length: 60 },
    (_, n) => ({ stream: `team-${n}`, position: n + 1 }) as unknown as RecordedEvent,
  );
  await pool.query(
    `insert into process_manager.reference (child, name, parent)
     select 'claim-' || n, 'claim.team', 'team-' || case when n <= 2500 then 30 else n % 30 end from generate_series(1, 2600) n`,
  );
  let asked = 0;
  const query = (...given: Parameters<typeof pool.query>) => {
    asked += 1;
    return pool.query(...given);
  };
  const eventLog = {
    async *follow() {
      yield events;
    },
  };
  const seen: (readonly [string, number])[] = [];
  const from = { after: 0 as Position, signal: new AbortController().signal, event: undefined };
  for await (const { page, upTo } of pagesOf({ pool: { query } as never, eventLog, happened }, from)) {
    seen.push('before' in page ? ['before', upTo] : [String(page.events.length), upTo]);
    if ('before' in page) await inTransaction(pool, (connection) => notePage(connection, page.before));
  }
  expect(seen).toEqual([
    ['30', 30],
    ['before', 30],
    ['before', 30],
    ['30', 60],
  ]);
  expect(asked).toBe(4);
  const { rows } = await pool.query<{ stream: StreamName }>(
    'select distinct stream from process_manager.task',
  );
  expect(rows).toHaveLength(2_000);
});
