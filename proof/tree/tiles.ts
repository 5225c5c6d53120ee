import { type Answer, type Statement, sendLast } from '#shared/database/pipeline.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { BLOCK_EVENTS_MAX } from '../stored/blocks.ts';
import { HASH_BYTES } from '../stored/chain.ts';
import { type Edge, TILE_WIDTH, type Tile } from './growing-tree.ts';
import { split } from './hashes.ts';
import type { Leaves } from './leaves.ts';
import type { ReadTile } from './proofs.ts';

/**
 * The newest head of the tree, which covers `size` events; without a note while it may not be signed, because
 * the head outside the database covers more.
 */
export type StoredTreeHead = { readonly size: number; readonly note: string | null };

const TREE_HEAD = 'select size, note from audit.tree_head';

export const readTreeHead = async (pool: Pool): Promise<StoredTreeHead | undefined> =>
  (await pool.query<StoredTreeHead>(TREE_HEAD)).rows[0];

/** The same for callers that send it with others. */
export const FIND_TREE_HEAD: Statement = { name: 'tree-head', text: TREE_HEAD };
export const treeHeadIn = (answer: Answer | undefined): StoredTreeHead | undefined =>
  answer?.rows[0] as StoredTreeHead | undefined;

/** Records what the tree has grown by, in the transaction of the events. */
export const saveGrowth = (
  connection: Connection,
  tiles: readonly Tile[],
  { size, note }: StoredTreeHead,
): Promise<void> =>
  sendLast(connection, [
    ...tiles.map(({ level, index, hashes, root }) => ({
      ...INSERT_TILE,
      values: [level, index, hashes, root],
    })),
    { ...SAVE_TREE_HEAD, values: [size, note] },
  ]);

const INSERT_TILE: Statement = {
  name: 'tree-insert-tile',
  text: 'insert into audit.tile (level, index, hashes, root) values ($1, $2, $3, $4) on conflict do nothing',
};
const SAVE_TREE_HEAD: Statement = {
  name: 'tree-save-head',
  text: `insert into audit.tree_head (size, note) values ($1, $2)
    on conflict (only_one) do update set size = excluded.size, note = excluded.note`,
};

/** The hashes of the chain of events from index `from` to before `to`, without separators. */
export const readHashes = async (
  connection: Connection | Pool,
  from: number,
  to: number,
): Promise<Buffer> => {
  if (from >= to) return Buffer.alloc(0);
  const { rows } = await connection.query<{ count: number; events: number; hashes: Buffer }>(
    'select count, events, hashes from audit.block where count > $1 and count < $2 order by count',
    [from, to + BLOCK_EVENTS_MAX],
  );
  const first = rows[0] ? rows[0].count - rows[0].events : to;
  const hashes = Buffer.concat(rows.map((row) => row.hashes));
  const wanted = hashes.subarray((from - first) * HASH_BYTES, (to - first) * HASH_BYTES);
  if (first > from || wanted.length !== (to - from) * HASH_BYTES)
    throw new TreeDamaged(`the chain lacks hashes of the events ${from + 1} to ${to}`);
  return wanted;
};

/** Reads tiles; those that are not full are made of the chain, and of the tiles below. */
export const tileReader =
  (connection: Connection | Pool, leaves: Leaves): ReadTile =>
  async (level, index, width) => {
    if (width === 0) return Buffer.alloc(0);
    if (width === TILE_WIDTH) return readFull(connection, level, index);
    const from = index * TILE_WIDTH;
    if (level > 0) return readRoots(connection, level - 1, from, from + width);
    const hashes = split(await readHashes(connection, from, from + width));
    return Buffer.concat(hashes.map((hash, at) => leaves.leafOf(from + at, hash)));
  };

const readFull = async (connection: Connection | Pool, level: number, index: number): Promise<Buffer> => {
  const { rows } = await connection.query<{ hashes: Buffer }>(
    'select hashes from audit.tile where level = $1 and index = $2',
    [level, index],
  );
  if (rows[0] === undefined) throw new TreeDamaged(`the tree lacks tile ${index} of level ${level}`);
  return rows[0].hashes;
};

const readRoots = async (
  connection: Connection | Pool,
  level: number,
  from: number,
  to: number,
): Promise<Buffer> => {
  const { rows } = await connection.query<{ root: Buffer }>(
    'select root from audit.tile where level = $1 and index >= $2 and index < $3 order by index',
    [level, from, to],
  );
  if (rows.length !== to - from)
    throw new TreeDamaged(`the tree lacks some of the tiles ${from} to ${to - 1} of level ${level}`);
  return Buffer.concat(rows.map(({ root }) => root));
};

/** The right edge of the tree when it had `size` leaves. */
export const readEdge = async (read: ReadTile, size: number): Promise<Edge> => {
  const edge: (readonly Buffer[])[] = [];
  for (let level = 0, count = size; count > 0; level += 1, count = Math.floor(count / TILE_WIDTH))
    edge.push(split(await read(level, Math.floor(count / TILE_WIDTH), count % TILE_WIDTH)));
  return edge;
};

/** A row of the tree or the chain is gone: somebody deleted it by hand. */
export class TreeDamaged extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TreeDamaged';
  }
}
