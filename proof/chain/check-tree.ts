import type { LogIdentity } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { type Block, readBlocks } from '../stored/blocks.ts';
import { readAuditKeys } from '../stored/signing-keys.ts';
import { originOf, parseCheckpoint } from '../tree/checkpoint.ts';
import { GrowingTree, type Tile } from '../tree/growing-tree.ts';
import { split } from '../tree/hashes.ts';
import { leavesOf } from '../tree/leaves.ts';
import { isNoteSignedBy, parseNote } from '../tree/note.ts';
import type { ChainFinding, Findings } from './findings.ts';
import { noteKeyOf } from './note-key.ts';

export type TreeCheckOptions = {
  readonly pool: Pool;
  readonly masterKey: MasterKey;
  readonly log: LogIdentity;
};

/**
 * Computes the tree from the blocks of the chain, and compares its tiles and its signed head with those that
 * are stored. Whether the blocks are right is found by the walk through the log.
 */
export const checkTree = async (options: TreeCheckOptions, findings: Findings): Promise<void> => {
  const stored = await readStored(options.pool);
  if (stored === undefined) return;
  const { leafOf } = leavesOf(options.masterKey);
  const tree = new GrowingTree();
  for await (const blocks of readBlocks(options.pool, { upTo: stored.size }))
    for (const tile of grownBy(tree, blocks, leafOf))
      findings.add(...(await compareTile(options.pool, tile)));
  findings.add(...(await extraTiles(options.pool, tree.size)));
  findings.add(...(await compareHead(options, stored, tree)));
};

type Stored = { readonly size: number; readonly note: string; readonly chained: number };

/** One snapshot of tree and chain, which grow in one transaction. Undefined if the log has no tree yet. */
const readStored = async (pool: Pool): Promise<Stored | undefined> => {
  const { rows } = await pool.query<Stored>(
    `select size, note, (select coalesce(max(count), 0) from audit.block) as chained from audit.checkpoint
     union all
     select 0, '', (select coalesce(max(count), 0) from audit.block)
     where not exists (select from audit.checkpoint) and exists (select from audit.tile)`,
  );
  return rows[0];
};

const grownBy = (
  tree: GrowingTree,
  blocks: readonly Block[],
  leafOf: (index: number, hash: Buffer) => Buffer,
): readonly Tile[] =>
  blocks.flatMap(({ hashes }) => split(hashes).flatMap((hash) => tree.append(leafOf(tree.size, hash))));

const compareTile = async (pool: Pool, tile: Tile): Promise<readonly ChainFinding[]> => {
  const { level, index } = tile;
  const { rows } = await pool.query<Pick<Tile, 'hashes' | 'root'>>(
    'select hashes, root from audit.tile where level = $1 and index = $2',
    [level, index],
  );
  const [found] = rows;
  if (found === undefined) return [{ kind: 'tile_missing', level, index }];
  const isSame = found.hashes.equals(tile.hashes) && found.root.equals(tile.root);
  return isSame ? [] : [{ kind: 'tile_changed', level, index }];
};

/** Tiles that a tree of this size does not have. */
const extraTiles = async (pool: Pool, size: number): Promise<readonly ChainFinding[]> => {
  const { rows } = await pool.query<Pick<Tile, 'level' | 'index'>>(
    'select level, index from audit.tile where (index + 1) * 256::numeric ^ (level + 1) > $1 order by level, index limit 100',
    [size],
  );
  return rows.map(({ level, index }) => ({ kind: 'tile_changed', level, index }));
};

const compareHead = async (
  { pool, log }: TreeCheckOptions,
  { size, note, chained }: Stored,
  tree: GrowingTree,
): Promise<readonly ChainFinding[]> => {
  const wrong = (why: string): readonly ChainFinding[] => [{ kind: 'checkpoint_wrong', count: size, why }];
  const signed = parseNote(note);
  const head = signed && parseCheckpoint(signed.text);
  if (signed === undefined || head === undefined) return wrong('unreadable');
  const keys = (await readAuditKeys(pool)).map(({ publicKey }) => noteKeyOf(publicKey, log));
  if (head.origin !== originOf(log) || !keys.some((key) => isNoteSignedBy(signed, key)))
    return wrong('signature');
  if (head.size !== size || size !== chained) return wrong('size');
  return head.root.equals(tree.root()) ? [] : wrong('root');
};
