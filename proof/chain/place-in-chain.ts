import type { Position } from '#kernel/base/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { headAt } from '../stored/blocks.ts';
import { hashOf } from '../stored/canonical.ts';
import { HASH_BYTES } from '../stored/chain.ts';
import { readPublication } from '../stored/publication.ts';
import { readHeadsAfter, readStatement } from '../stored/signed-head.ts';

type PlaceInChain = {
  readonly hash: string;
  /** Null if the chain does not reach the event yet, or has another event in its place. */
  readonly count: number | null;
  readonly head: string | null;
  /** The first head that covers it. */
  readonly signed: {
    readonly count: number;
    readonly at: string;
    readonly key: string;
    readonly outside: boolean;
  } | null;
};

/** The place of an event in the hash chain: found by its position, and confirmed by its hash. */
export const placeInChain = async (pool: Pool, event: RecordedEvent): Promise<PlaceInChain> => {
  const hash = hashOf(event);
  const count = await countOf(pool, event, hash);
  if (count === undefined) return { hash: hash.toString('hex'), count: null, head: null, signed: null };
  const [head, heads, publication] = await Promise.all([
    headAt(pool, count),
    readHeadsAfter(pool, count - 1, 1),
    readPublication(pool),
  ]);
  const signed = heads.map(({ statement, ...covering }) => {
    const { at, key } = readStatement(statement);
    return { count: covering.count, at, key, outside: covering.count <= publication.count };
  });
  return {
    hash: hash.toString('hex'),
    count,
    head: head?.toString('hex') ?? null,
    signed: signed[0] ?? null,
  };
};

type Covering = {
  readonly count: number;
  readonly events: number;
  readonly hashes: Buffer;
  readonly first: Position;
  readonly last: Position;
};

/** The number of the event in the log, counted from 1; undefined if the chain does not have it there. */
export const countOf = (pool: Pool, event: RecordedEvent, hash: Buffer): Promise<number | undefined> =>
  counter(pool)(event, hash);

type Database = Pick<Pool | Connection, 'query'>;

/** The same for several events of a stream in order, of which many may be in one block. */
export const counter = (database: Database) => {
  let block: Covering | undefined;
  return async ({ position }: Pick<RecordedEvent, 'position'>, hash: Buffer): Promise<number | undefined> => {
    if (block === undefined || position < block.first || position > block.last)
      block = await blockAt(database, position);
    const index = block?.hashes.indexOf(hash) ?? -1;
    return block === undefined || index < 0 || index % HASH_BYTES !== 0
      ? undefined
      : block.count - block.events + index / HASH_BYTES + 1;
  };
};

const blockAt = async (database: Database, position: Position): Promise<Covering | undefined> => {
  const { rows } = await (database as Pool).query<Covering>(
    `select count, events, hashes, first_position as first, last_position as last from audit.block
     where last_position >= $1 and first_position <= $1 order by last_position limit 1`,
    [position],
  );
  return rows[0];
};
