import type { Pool } from '#shared/database/pool.ts';
import type { ReadEntry } from './entry.ts';

type Batch = {
  /** The process that writes, and the number of the batch among its batches. */
  readonly writer: string;
  readonly number: number;
  readonly entries: readonly ReadEntry[];
};

/** Appends a batch of entries, unless an attempt before has. */
export const appendEntries = async (pool: Pool, { writer, number, entries }: Batch): Promise<void> => {
  const values = [
    writer,
    number,
    // The chain is computed over these texts.
    entries.map((entry) => JSON.stringify(entry)),
    entries.map(({ at }) => at),
    entries.map(({ kind }) => kind),
    entries.map(({ items }) => `{${items.join()}}`),
    entries.map(({ reader }) => reader),
  ];
  await pool.query({ name: 'read_log_append_rows', text: APPEND, values });
};

const APPEND = `select read_log.append_rows(
  $1::uuid, $2::bigint, $3::text[], $4::timestamptz[], $5::text[], $6::text[], $7::bigint[])`;
