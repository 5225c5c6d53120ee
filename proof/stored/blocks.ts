import type { Position } from '#kernel/base/brands.ts';
import { type Answer, type Statement, sendLast } from '#shared/database/pipeline.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { START } from '#shared/event-log/event-log.ts';
import { extendByAll, GENESIS, HASH_BYTES } from './chain.ts';

/**
 * A block of the chain: a number of consecutive events of the log, with their hashes in order, and the head
 * after the last.
 */
export type Block = {
  /** The number of events of the log up to the end of this block. */
  readonly count: number;
  readonly events: number;
  readonly firstPosition: Position;
  readonly lastPosition: Position;
  /** The least and the greatest `metadata.at`. */
  readonly firstAt: Date | null;
  readonly lastAt: Date | null;
  /** The greatest `metadata.at` since the beginning of the log. */
  readonly latestAt: Date | null;
  readonly hashes: Buffer;
  readonly head: Buffer;
};

/** The maximum number of events in a block. */
export const BLOCK_EVENTS_MAX = 1_000;

export type ChainEnd = Pick<Block, 'count' | 'head' | 'latestAt'> & { readonly position: Position };

export const EMPTY_CHAIN: ChainEnd = { count: 0, position: START, head: GENESIS, latestAt: null };

const CHAIN_END =
  'select count, last_position as position, head, latest_at as "latestAt" from audit.block order by count desc limit 1';

export const readChainEnd = async (database: Pick<Pool | Connection, 'query'>): Promise<ChainEnd> => {
  const { rows } = await database.query<ChainEnd>(CHAIN_END);
  return rows[0] ?? EMPTY_CHAIN;
};

/** The same for callers that send it with others. */
export const FIND_CHAIN_END: Statement = { name: 'chain-end', text: CHAIN_END };
export const chainEndIn = (answer: Answer | undefined): ChainEnd =>
  (answer?.rows[0] as ChainEnd | undefined) ?? EMPTY_CHAIN;

const INSERT_BLOCK: Statement = {
  name: 'chain-insert-block',
  text: `insert into audit.block (count, events, first_position, last_position, first_at, last_at, latest_at, hashes, head)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
};

export const insertBlock = async (connection: Connection, block: Block): Promise<void> => {
  const { count, events, firstPosition, lastPosition, firstAt, lastAt, latestAt, hashes, head } = block;
  const values = [count, events, firstPosition, lastPosition, firstAt, lastAt, latestAt, hashes, head];
  await sendLast(connection, [{ ...INSERT_BLOCK, values }]);
};

const BLOCKS_PAGE = 100;

/** The blocks between two counts of events, in order, page by page. */
export async function* readBlocks(
  pool: Pool,
  { after = 0, upTo }: { after?: number; upTo: number },
): AsyncGenerator<readonly Block[]> {
  for (let last = after; ; ) {
    const { rows } = await pool.query<Block>(
      `select count, events, first_position as "firstPosition", last_position as "lastPosition", first_at as "firstAt",
         last_at as "lastAt", latest_at as "latestAt", hashes, head
       from audit.block where count > $1 and count <= $2 order by count limit ${BLOCKS_PAGE}`,
      [last, upTo],
    );
    if (rows.length > 0) yield rows;
    if (rows.length < BLOCKS_PAGE) return;
    last = rows.at(-1)?.count ?? last;
  }
}

/** The chain’s head after `count` events, even within a block; undefined if the chain is shorter. */
export const headAt = async (pool: Pool, count: number): Promise<Buffer | undefined> => {
  if (count === 0) return GENESIS;
  const { rows } = await pool.query<
    Pick<Block, 'count' | 'events' | 'hashes'> & { readonly before: Buffer | null }
  >(
    `select count, events, hashes, (select head from audit.block b where b.count < block.count order by b.count desc limit 1) as before
     from audit.block where count >= $1 order by count limit 1`,
    [count],
  );
  const [block] = rows;
  if (!block) return undefined;
  const before = block.count - block.events;
  return extendByAll(block.before ?? GENESIS, block.hashes.subarray(0, (count - before) * HASH_BYTES));
};
