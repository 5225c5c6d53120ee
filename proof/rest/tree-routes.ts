import { type RequestHandler, Router } from 'express';
import * as z from 'zod';
import { parametersOf } from '#edge/http/parameters.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { HASH_BYTES } from '../stored/chain.ts';
import { TILE_WIDTH } from '../tree/growing-tree.ts';
import { split } from '../tree/hashes.ts';
import { leavesOf } from '../tree/leaves.ts';
import { widthOf } from '../tree/proofs.ts';
import { readHashes, readTreeHead, tileReader } from '../tree/tiles.ts';

type Dependencies = { readonly pool: Pool; readonly masterKey: MasterKey };

/** Where the tree is served: the prefix of C2SP tlog-tiles. */
const PREFIX = '/audit/log';
/** A tile never changes, except in a log that has lost events. */
const LONG = 'public, max-age=3600';

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
    .get(`${PREFIX}/checkpoint`, async (request, response) => {
      parametersOf(NO_PARAMETERS, request.query);
      const { note = null } = (await readTreeHead(pool)) ?? {};
      if (note === null) throw new HttpProblem('not_found');
      response.set('Cache-Control', 'no-cache').type('text/plain').send(note);
    })
    .get(`${PREFIX}/tile/{*path}`, async (request, response) => {
      parametersOf(NO_PARAMETERS, request.query);
      const tile = tileOf([request.params.path ?? []].flat().join('/'));
      // One path for each tile: caches keep each of them.
      if (tile === undefined || !request.path.endsWith(`/tile/${pathOf(tile)}`))
        throw new HttpProblem('not_found');
      const { level, index, width } = tile;
      const size = (await readTreeHead(pool))?.size ?? 0;
      if (width > widthOf(size, level ?? 0, index)) throw new HttpProblem('not_found');
      const bytes = await (level === undefined ? entriesOf(index, width) : read(level, index, width));
      response.set('Cache-Control', LONG).type('application/octet-stream').send(bytes);
    });
};

const NO_PARAMETERS = z.strictObject({});

/** Two bytes of length before each entry. */
const ENTRY_LENGTH = Buffer.of(0, HASH_BYTES);

type AskedTile = { readonly level: number | undefined; readonly index: number; readonly width: number };

const TILE = /^(?<level>entries|\d{1,2})\/(?<index>(?:x\d{3}\/)*\d{3})(?:\.p\/(?<width>\d{1,3}))?$/;
const LEVEL_MAX = 63;
/** More tiles than any log has. */
const PATH_MAX = 40;

/** `<level>/<index>` or `<level>/<index>.p/<width>`; the index in groups of three digits. */
const tileOf = (path: string): AskedTile | undefined => {
  const { level, index, width = TILE_WIDTH } = (path.length <= PATH_MAX && TILE.exec(path)?.groups) || {};
  if (index === undefined || Number(width) < 1 || Number(width) > TILE_WIDTH) return undefined;
  if (level !== 'entries' && Number(level) > LEVEL_MAX) return undefined;
  return {
    level: level === 'entries' ? undefined : Number(level),
    index: Number(index.replaceAll(/[x/]/g, '')),
    width: Number(width),
  };
};

/** As the specification writes it, in one way only. */
const pathOf = ({ level, index, width }: AskedTile): string => {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g) ?? [];
  const path = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/');
  return `${level ?? 'entries'}/${path}${width < TILE_WIDTH ? `.p/${width}` : ''}`;
};
