import { setImmediate as breathe } from 'node:timers/promises';
import type { LogIdentity } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { findOutside, type OutsideHead, treeHeadFileIn } from '../heads/tree-head-file.ts';
import { BLOCK_EVENTS_MAX, readBlocks } from '../stored/blocks.ts';
import { GrowingTree, type Tile } from '../tree/growing-tree.ts';
import { split } from '../tree/hashes.ts';
import { leavesOf } from '../tree/leaves.ts';
import { ownHeadIn } from '../tree/note-key.ts';
import type { StoredTreeHead } from '../tree/tiles.ts';
import type { ChainFinding, Findings } from './findings.ts';

export type TreeCheckOptions = {
  readonly pool: Pool;
  readonly masterKey: MasterKey;
  readonly log: LogIdentity;
  readonly auditDir: string;
};

/**
 * Computes the tree from the blocks of the chain, and compares its tiles and its signed head with those that
 * are stored, and with the head outside. Whether the blocks are right is found by the walk through the log.
 */
export const checkTree = async (options: TreeCheckOptions, findings: Findings): Promise<void> => {
  const { pool, masterKey } = options;
  // The file first: both may grow meanwhile, and the file follows the database.
  const found = await findOutside(treeHeadFileIn(options.auditDir), options);
  const outside = found === 'forged' ? undefined : found;
  const stored = await readStored(pool);
  if (stored === undefined) return;
  const { leafOf } = leavesOf(masterKey);
  const tree = new GrowingTree();
  const wrong = (count: number, why: string): void => findings.add({ kind: 'tree_head_wrong', count, why });
  if (found === 'forged') wrong(stored.size, 'outside');
  for await (const blocks of readBlocks(pool, { upTo: stored.size + BLOCK_EVENTS_MAX })) {
    const filled: Tile[] = [];
    for (const hash of blocks.flatMap(({ hashes }) => split(hashes))) {
      if (tree.size === stored.size) break;
      filled.push(...tree.append(leafOf(tree.size, hash)));
      if (tree.size === outside?.size && !tree.root().equals(outside.root)) wrong(outside.size, 'outside');
      if (tree.size % EVENTS_BETWEEN_BREATHS === 0) await breathe();
    }
    findings.add(...(await compareTiles(pool, filled)));
  }
  findings.add(...(await extraTiles(pool, stored.size)));
  if (outside !== undefined && outside.size > stored.chained) wrong(outside.size, 'cut');
  const why = await faultOf(options, stored, { tree, outside });
  if (why !== undefined) wrong(stored.size, why);
};

/** Hashing blocks the event loop. */
const EVENTS_BETWEEN_BREATHS = 512;

type Stored = StoredTreeHead & { readonly chained: number };

/** One snapshot of tree and chain, which grow in one transaction. Undefined if the log has no tree yet. */
const readStored = async (pool: Pool): Promise<Stored | undefined> => {
  const { rows } = await pool.query<Stored>(
    `select size, note, (select coalesce(max(count), 0) from audit.block) as chained from audit.tree_head
     union all
     select 0, null, (select coalesce(max(count), 0) from audit.block)
     where not exists (select from audit.tree_head) and exists (select from audit.tile)`,
  );
  return rows[0];
};

/** Finds the tiles of the same tree that are missing or differ. */
const compareTiles = async (pool: Pool, tiles: readonly Tile[]): Promise<readonly ChainFinding[]> => {
  if (tiles.length === 0) return [];
  const { rows } = await pool.query<Tile>(
    `select level, index, hashes, root from audit.tile
     where (level, index) in (select * from unnest($1::smallint[], $2::bigint[]))`,
    [tiles.map(({ level }) => level), tiles.map(({ index }) => index)],
  );
  const found = new Map(rows.map((row) => [`${row.level} ${row.index}`, row]));
  return tiles.flatMap(({ level, index, hashes, root }): readonly ChainFinding[] => {
    const row = found.get(`${level} ${index}`);
    if (row === undefined) return [{ kind: 'tile_missing', level, index }];
    return row.hashes.equals(hashes) && row.root.equals(root) ? [] : [{ kind: 'tile_changed', level, index }];
  });
};

/** Tiles that a tree of this size does not have. */
const extraTiles = async (pool: Pool, size: number): Promise<readonly ChainFinding[]> => {
  const { rows } = await pool.query<Pick<Tile, 'level' | 'index'>>(
    'select level, index from audit.tile where (index + 1) * 256::numeric ^ (level + 1) > $1 order by level, index limit 100',
    [size],
  );
  return rows.map(({ level, index }) => ({ kind: 'tile_changed', level, index }));
};

/** The fault of the stored head. One that is behind the chain is still catching up. */
const faultOf = async (
  { pool, masterKey }: TreeCheckOptions,
  { size, note, chained }: Stored,
  { tree, outside }: { readonly tree: GrowingTree; readonly outside: OutsideHead | undefined },
): Promise<string | undefined> => {
  if (size > chained) return 'size';
  // The head is signed when it has reached the head outside.
  if (note === null && size < (outside?.size ?? 1)) return undefined;
  const signed = await ownHeadIn({ connection: pool, masterKey }, note);
  if (signed === undefined) return 'signature';
  if (signed.head.size !== size) return 'size';
  return signed.head.root.equals(tree.root()) ? undefined : 'root';
};
