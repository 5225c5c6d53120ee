import { type RequestHandler, Router } from 'express';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { HASH_BYTES } from '../stored/chain.ts';
import { TILE_WIDTH } from '../tree/growing-tree.ts';
import { split } from '../tree/hashes.ts';
import { leavesOf } from '../tree/leaves.ts';
import { widthOf } from '../tree/proofs.ts';
import { readCheckpointNote, readHashes, tileReader } from '../tree/tiles.ts';

type Dependencies = { readonly pool: Pool; readonly masterKey: MasterKey };

/** Where the tree is served: the prefix of C2SP tlog-tiles. */
const PREFIX = '/audit/log';
/** A tile never changes, and neither does the beginning of one. */
const FOR_EVER = 'public, max-age=31536000, immutable';

/**
 * The tree as static resources, for everybody: its hashes are salted, so they say how many events there are and
 * nothing of what is in them.
 */
export const treeRoutes = ({ pool, masterKey }: Dependencies): RequestHandler => {
  const leaves = leavesOf(masterKey);
  const read = tileReader(pool, leaves);
  const entriesOf = async (index: number, width: number): Promise<Buffer> => {
    const from = index * TILE_WIDTH;
    const hashes = split(await readHashes(pool, from, from + width));
    return Buffer.concat(hashes.flatMap((hash, at) => [ENTRY_LENGTH, leaves.entryOf(from + at, hash)]));
  };
  return Router()
    .get(`${PREFIX}/checkpoint`, async (_request, response) => {
      const checkpoint = await readCheckpointNote(pool);
      if (checkpoint === undefined) throw new HttpProblem('not_found');
      response.set('Cache-Control', 'no-cache').type('text/plain').send(checkpoint.note);
    })
    .get(`${PREFIX}/tile/{*path}`, async (request, response) => {
      const tile = tileOf([request.params.path ?? []].flat());
      const size = (await readCheckpointNote(pool))?.size ?? 0;
      if (tile === undefined || tile.width > widthOf(size, tile.level ?? 0, tile.index))
        throw new HttpProblem('not_found');
      const { level, index, width } = tile;
      const bytes = await (level === undefined ? entriesOf(index, width) : read(level, index, width));
      response.set('Cache-Control', FOR_EVER).type('application/octet-stream').send(bytes);
    });
};

/** Two bytes of length before each entry. */
const ENTRY_LENGTH = Buffer.of(0, HASH_BYTES);

type AskedTile = { readonly level: number | undefined; readonly index: number; readonly width: number };

const LEVEL = /^(?:entries|[0-9]|[1-5]\d|6[0-3])$/;
const INDEX = /^(?:x\d{3}\/)*\d{3}$/;
const WIDTH = /^[1-9]\d{0,2}$/;

/** `<level>/<index>` or `<level>/<index>.p/<width>`; the index in groups of three digits. */
const tileOf = ([level = '', ...path]: readonly string[]): AskedTile | undefined => {
  const [index = '', partial] = path.join('/').split('.p/', 2);
  if (!LEVEL.test(level) || !INDEX.test(index)) return undefined;
  const width = partial === undefined ? TILE_WIDTH : WIDTH.test(partial) ? Number(partial) : 0;
  if (width < 1 || (partial !== undefined && width >= TILE_WIDTH)) return undefined;
  return {
    level: level === 'entries' ? undefined : Number(level),
    index: Number(index.replaceAll(/[x/]/g, '')),
    width,
  };
};
