import { type Request, type RequestHandler, type Response, Router } from 'express';
import * as z from 'zod';
import { isKnownToReader } from '#edge/http/entity-tag.ts';
import { parametersOf } from '#edge/http/parameters.ts';
import { demandRight } from '#edge/rest/admission.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { AUDIT_OPERATIONS } from '#shared/rest/audit.ts';
import { type Head, provingHeadIn, readPublicHeads } from '../cosign/public-heads.ts';
import { openSigner, type Signer } from '../stored/signing-keys.ts';
import { writeConsistency } from '../tree/consistency-file.ts';
import { EMPTY_ROOT } from '../tree/hashes.ts';
import { leavesOf } from '../tree/leaves.ts';
import { writeNote } from '../tree/note.ts';
import { noteKeyOf } from '../tree/note-key.ts';
import { proofsOf, widthOf } from '../tree/proofs.ts';
import { tileContentOf } from '../tree/tile-content.ts';
import { parseTilePath } from '../tree/tile-paths.ts';
import { readTreeHead, tileReader } from '../tree/tiles.ts';
import { originOf, writeTreeHead } from '../tree/tree-head.ts';

type Dependencies = {
  readonly pool: Pool;
  readonly masterKey: MasterKey;
  readonly eventLog: Pick<EventLog, 'identity'>;
  /** Whether only administrators may read the tree. */
  readonly isTreePrivate: boolean;
};

/** Where the tree is served: the prefix of C2SP tlog-tiles. */
const PREFIX = '/audit/log';
const TILES = `${PREFIX}/tile/`;
/**
 * A tile never changes, except in a log that was renewed after it lost events. So caches keep it for a minute,
 * and then ask by a tag that names the log.
 */
const TILE_MAX_AGE_S = 60;

/**
 * The tree as static resources: its hashes are salted, so they say how many events there are and nothing of what
 * is in them. Everybody may read it, also pages of other origins, unless it is private.
 */
export const treeRoutes = ({ pool, masterKey, eventLog, isTreePrivate }: Dependencies): RequestHandler => {
  const leaves = leavesOf(masterKey);
  const contentOf = tileContentOf(pool, leaves);
  const audience = isTreePrivate ? 'private' : 'public';
  const admit: RequestHandler = (request, response, next) => {
    if (isTreePrivate) {
      response.vary('Authorization');
      demandRight(request, AUDIT_OPERATIONS.listAuditHeads);
    } else response.set('Access-Control-Allow-Origin', '*');
    next();
  };
  const headNow = async (): Promise<Head> => {
    const { newest } = await readPublicHeads(pool);
    if (newest !== undefined) return newest;
    // A head that may not be signed yet.
    if ((await readTreeHead(pool)) !== undefined) throw new HttpProblem('not_found');
    return { size: 0, note: emptyHead(await openSigner({ pool, masterKey }), eventLog) };
  };
  /** If there are witnesses, the newest one that enough have cosigned, if that is new enough. */
  const headSince = async (from: number): Promise<Head> => {
    const { head } = provingHeadIn(await readPublicHeads(pool), from);
    return head ?? headNow();
  };
  const send = (response: Response, text: string): void => {
    response.set('Cache-Control', 'no-cache').type('text/plain').send(text);
  };
  return Router()
    .use(PREFIX, admit)
    .get(`${PREFIX}/checkpoint`, async (request, response) => {
      parametersOf(NO_PARAMETERS, request.query);
      send(response, (await headNow()).note);
    })
    .get(`${PREFIX}/consistency`, async (request, response) => {
      const newest = await headNow();
      const { from, to: asked } = spanOf(request, newest.size);
      const { size, note } = asked === undefined ? await headSince(from) : newest;
      const to = asked ?? size;
      const hashes = from === 0 ? [] : await proofsOf(tileReader(pool, leaves), to).consistency(from);
      send(response, writeConsistency(from, hashes, to === size ? note : ''));
    })
    .get(`${TILES}{*path}`, async (request, response) => {
      parametersOf(NO_PARAMETERS, request.query);
      // As it was sent: a tile has no other spelling.
      const path = request.path.startsWith(TILES) ? request.path.slice(TILES.length) : '';
      const tile = parseTilePath(path);
      const size = (await readTreeHead(pool))?.size ?? 0;
      if (tile === undefined || tile.width > widthOf(size, tile.level ?? 0, tile.index))
        throw new HttpProblem('not_found');
      const tag = `"${eventLog.identity}/${path}"`;
      response.set({ 'Cache-Control': `${audience}, max-age=${TILE_MAX_AGE_S}`, ETag: tag });
      if (isKnownToReader(request, tag)) return void response.status(304).end();
      response.type('application/octet-stream').send(await contentOf(tile));
    });
};

const NO_PARAMETERS = z.strictObject({});

const count = z
  .string()
  .regex(/^(?:0|[1-9]\d{0,15})$/, { error: 'Must be a number of entries.' })
  .transform(Number);
const Span = z.strictObject({ from: count, to: count.optional() });

const spanOf = (request: Request, size: number): z.output<typeof Span> => {
  const span = parametersOf(Span, request.query);
  const { from, to = size } = span;
  const refused = (parameter: string, detail: string): HttpProblem =>
    new HttpProblem('invalid_parameter', { extensions: { errors: [{ parameter, detail }] } });
  if (to > size) throw refused('to', `Must be at most ${size}, the entries of the newest checkpoint.`);
  if (from > to) throw refused('from', `Must be at most ${to}: the log never had more entries before.`);
  return span;
};

/** Signed when it is asked for: every tree begins with the empty one. */
const emptyHead = (signer: Signer, { identity }: Pick<EventLog, 'identity'>): string => {
  const key = noteKeyOf(signer.publicKey, identity);
  const text = writeTreeHead({ origin: originOf(identity), size: 0, root: EMPTY_ROOT });
  return writeNote(text, key, Buffer.from(signer.sign(text), 'base64url'));
};
