import type { Pool } from '#shared/database/pool.ts';
import { HASH_BYTES } from '../stored/chain.ts';
import { TILE_WIDTH } from './growing-tree.ts';
import { split } from './hashes.ts';
import type { Leaves } from './leaves.ts';
import type { NamedTile } from './tile-paths.ts';
import { readHashes, tileReader } from './tiles.ts';

/** Two bytes of length before each entry. */
const ENTRY_LENGTH = Buffer.of(0, HASH_BYTES);

/** Reads the bytes of a tile as everybody may read them. */
export const tileContentOf = (pool: Pool, leaves: Leaves): ((tile: NamedTile) => Promise<Buffer>) => {
  const read = tileReader(pool, leaves);
  return async ({ level, index, width }) => {
    if (level !== undefined) return read(level, index, width);
    const from = index * TILE_WIDTH;
    const hashes = split(await readHashes(pool, from, from + width));
    return Buffer.concat(hashes.flatMap((hash, at) => [ENTRY_LENGTH, leaves.entryOf(from + at, hash)]));
  };
};
