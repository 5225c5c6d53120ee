import type { Pool } from '#shared/database/pool.ts';
import type { ReadEntry } from './entry.ts';

export type StoredEntry = { readonly number: number; readonly entry: ReadEntry };

/** The entries nearest to a side, between two numbers that are both excluded; the latest first, unless backward. */
type Stretch = {
  readonly after: number | undefined;
  readonly before: number | undefined;
  readonly isBackward: boolean;
  readonly rowsMax: number;
};

/** The entries about an item. */
export const listReadersOf = (
  pool: Pool,
  { kind, id }: { readonly kind: string; readonly id: number },
  stretch: Stretch,
): Promise<readonly StoredEntry[]> =>
  listEntries(pool, 'kind = $4 and items @> array[$5::bigint]', [kind, id], stretch);

/** The entries of a reader. */
export const listReadsOf = (pool: Pool, reader: number, stretch: Stretch): Promise<readonly StoredEntry[]> =>
  listEntries(pool, 'reader = $4', [reader], stretch);

const listEntries = async (
  pool: Pool,
  condition: string,
  values: readonly unknown[],
  { after, before, isBackward, rowsMax }: Stretch,
): Promise<readonly StoredEntry[]> => {
  const { rows } = await pool.query<{ readonly number: number; readonly entry: string }>(
    `select number, entry from read_log.entry
     where ${condition} and ($1::bigint is null or number < $1) and ($2::bigint is null or number > $2)
     order by number ${isBackward ? 'asc' : 'desc'} limit $3`,
    [after ?? null, before ?? null, rowsMax, ...values],
  );
  return rows.map(({ number, entry }) => ({ number, entry: JSON.parse(entry) as ReadEntry }));
};

/** The end of the chain, and where it begins after entries that have expired. */
export type ChainOfReads = {
  readonly count: number;
  readonly hash: Buffer;
  readonly expired: number;
  readonly expiredHash: Buffer;
};

export const readChainOfReads = async (pool: Pool): Promise<ChainOfReads> => {
  const { rows } = await pool.query<ChainOfReads>(
    'select count, hash, expired, expired_hash as "expiredHash" from read_log.head',
  );
  const [head] = rows;
  if (head === undefined) throw new Error('The log of reads has lost its head');
  return head;
};

type ChainedEntry = {
  readonly number: number;
  readonly entry: string;
  readonly hash: Buffer;
  /** Whether the columns for lookups agree with the entry. */
  readonly isIndexed: boolean;
};

export const readPageOfEntries = async (
  pool: Pool,
  { after, upTo, limit }: { readonly after: number; readonly upTo: number; readonly limit: number },
): Promise<readonly ChainedEntry[]> => {
  const { rows } = await pool.query<Omit<ChainedEntry, 'isIndexed'> & Columns>(
    `select number, entry, hash, at, kind, items, reader from read_log.entry
     where number > $1 and number <= $2 order by number limit $3`,
    [after, upTo, limit],
  );
  return rows.map(({ number, entry, hash, ...columns }) => ({
    ...{ number, entry, hash },
    isIndexed: agrees(entry, columns),
  }));
};

type Columns = Pick<ReadEntry, 'kind' | 'reader'> & {
  readonly at: Date;
  readonly items: readonly (number | string)[];
};

const agrees = (text: string, { at, kind, items, reader }: Columns): boolean => {
  try {
    const entry = JSON.parse(text) as ReadEntry;
    return (
      entry.at === at.toISOString() &&
      entry.kind === kind &&
      entry.reader === reader &&
      entry.items.join() === items.join()
    );
  } catch {
    return false;
  }
};
