import type pg from 'pg';
import type { Position, Version } from '#shared/brands.ts';
import type { Appended } from '../event-log.ts';
import type { ProposedAppend } from './group-commit.ts';

const EXPECT_ANY = -1;

const APPEND = {
  name: 'event-log-append',
  text: 'select append, last_version, last_position from event_log.append($1)',
};

type Row = { append: number; last_version: number | null; last_position: number | null };

/** Stores a batch of appends with one statement, which is one transaction. */
export const appendBatch = async (pool: pg.Pool, batch: readonly ProposedAppend[]): Promise<readonly (Appended | undefined)[]> => {
  const rows = batch.flatMap(({ stream, expected, events }, append) =>
    events.map((event) => ({
      a: append,
      s: stream,
      x: expected === 'any' ? EXPECT_ANY : expected,
      i: event.id,
      t: event.type,
      // As text within the JSON, because PostgreSQL refuses an escaped NUL where it unpacks a JSON document.
      d: event.data,
      m: event.metadata,
      b: event.bytes,
    })),
  );
  const answer = await pool.query<Row>({ ...APPEND, values: [JSON.stringify(rows)] });
  const outcomes = new Array<Appended | undefined>(batch.length);
  for (const row of answer.rows) {
    if (row.last_version !== null && row.last_position !== null) {
      outcomes[row.append] = { version: row.last_version as Version, position: row.last_position as Position };
    }
  }
  return outcomes;
};
