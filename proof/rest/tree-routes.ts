import { type RequestHandler, Router } from 'express';
import * as z from 'zod';
import { parametersOf } from '#edge/http/parameters.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { readPublicHeads } from '../cosign/public-heads.ts';
import { leavesOf } from '../tree/leaves.ts';
import { widthOf } from '../tree/proofs.ts';
import { tileContentOf } from '../tree/tile-content.ts';
import { parseTilePath } from '../tree/tile-paths.ts';
import { readTreeHead } from '../tree/tiles.ts';

type Dependencies = { readonly pool: Pool; readonly masterKey: MasterKey };

/** Where the tree is served: the prefix of C2SP tlog-tiles. */
const PREFIX = '/audit/log';
const TILES = `${PREFIX}/tile/`;
/** A tile never changes, except in a log that has lost events. */
const LONG = 'public, max-age=3600';

/**
 * The tree as static resources, for everybody: its hashes are salted, so they say how many events there are and
 * nothing of what is in them.
 */
export const treeRoutes = ({ pool, masterKey }: Dependencies): RequestHandler => {
  const contentOf = tileContentOf(pool, leavesOf(masterKey));
  return Router()
    .get(`${PREFIX}/checkpoint`, async (request, response) => {
      parametersOf(NO_PARAMETERS, request.query);
      const { newest } = await readPublicHeads(pool);
      if (newest === undefined) throw new HttpProblem('not_found');
      response.set('Cache-Control', 'no-cache').type('text/plain').send(newest.note);
    })
    .get(`${TILES}{*path}`, async (request, response) => {
      parametersOf(NO_PARAMETERS, request.query);
      // As it was sent: a tile has no other spelling.
      const tile = request.path.startsWith(TILES)
        ? parseTilePath(request.path.slice(TILES.length))
        : undefined;
      const size = (await readTreeHead(pool))?.size ?? 0;
      if (tile === undefined || tile.width > widthOf(size, tile.level ?? 0, tile.index))
        throw new HttpProblem('not_found');
      response
        .set('Cache-Control', LONG)
        .type('application/octet-stream')
        .send(await contentOf(tile));
    });
};

const NO_PARAMETERS = z.strictObject({});
