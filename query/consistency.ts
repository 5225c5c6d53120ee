import type { RequestHandler } from 'express';
import type { LogIdentity, Position } from '#shared/brands.ts';
import { parseCursor, UnknownCursor } from '#shared/cursor.ts';
import { HttpProblem } from '#shared/http/http-problem.ts';
import type { ReadPosition } from '#shared/read-model/read-position.ts';

const CONSISTENCY_TOKEN = 'Consistency-Token';
const WAIT_MAX_MS = 5_000;
const RETRY_AFTER_SECONDS = '1';

export type ConsistencyOptions = {
  readonly readPosition: Pick<ReadPosition, 'reaches'>;
  readonly eventLog: { readonly identity: LogIdentity };
  readonly waitMaxMs?: number;
};

/** Before every read: one that names a write waits until it can see it, and is told to come again where that takes too long. */
export const awaitConsistency =
  ({ readPosition, eventLog, waitMaxMs = WAIT_MAX_MS }: ConsistencyOptions): RequestHandler =>
  async (request, response, next) => {
    // What a cache keeps for those who name no write is not for those who do.
    response.vary(CONSISTENCY_TOKEN);
    const token = request.get(CONSISTENCY_TOKEN);
    if (token === undefined) return next();
    const position = positionOf(eventLog.identity, token);
    const gone = new AbortController();
    const leave = () => gone.abort();
    response.once('close', leave);
    const isVisible = await readPosition.reaches(position, waitMaxMs, gone.signal);
    response.off('close', leave);
    if (gone.signal.aborted) return;
    if (!isVisible) throw new HttpProblem('not_yet_visible', { headers: { 'Retry-After': RETRY_AFTER_SECONDS } });
    next();
  };

const positionOf = (identity: LogIdentity, token: string): Position => {
  try {
    return parseCursor(identity, token);
  } catch (cause) {
    if (cause instanceof UnknownCursor)
      throw new HttpProblem('unknown_cursor', { detail: `${CONSISTENCY_TOKEN}: ${cause.message}.`, cause });
    throw cause;
  }
};
