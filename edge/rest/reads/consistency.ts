import type { RequestHandler } from 'express';
import type { Position } from '#kernel/base/brands.ts';
import { type CursorPoint, parseOwnPoint, UnknownCursor } from '#kernel/base/cursor.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { headReaching } from '#shared/event-log/ask-again.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { demandEventOf, type OwnLog } from '#shared/event-log/own-cursor.ts';
import type { ReadPosition } from '#shared/read-model/read-position.ts';

const CONSISTENCY_TOKEN = 'Consistency-Token';
/** Almost every write is visible by then; otherwise it is worth asking the log. */
const SOON_MS = 250;
const RETRY_AFTER_SECONDS = '1';

type ConsistencyOptions = {
  readonly readPosition: Pick<ReadPosition, 'reaches'>;
  readonly eventLog: OwnLog & Pick<EventLog, 'head'>;
  readonly waitMaxMs: number;
};

/**
 * Before every read: a read with a consistency token waits until it can see that write, and gets 503 with Retry-After
 * if that takes too long.
 */
export const awaitConsistency =
  ({ readPosition, eventLog, waitMaxMs }: ConsistencyOptions): RequestHandler =>
  async (request, response, next) => {
    // A cached response to a read without a token must not serve a read with one.
    response.vary(CONSISTENCY_TOKEN);
    const token = request.get(CONSISTENCY_TOKEN);
    if (token === undefined) return next();
    const point = pointOf(eventLog, token);
    const { position } = point;
    const gone = new AbortController();
    const leave = () => gone.abort();
    response.once('close', leave);
    const becomesVisible = async (): Promise<boolean> =>
      (await readPosition.reaches(position, Math.min(SOON_MS, waitMaxMs), gone.signal)) ||
      isVisibleLater({ readPosition, eventLog, waitMaxMs: waitMaxMs - SOON_MS }, position, gone.signal);
    // At the same time, so that the look at its event delays nothing.
    const [isVisible] = await Promise.all([becomesVisible(), demandOwn(eventLog, point)]).catch((error) => {
      response.off('close', leave);
      gone.abort();
      throw error;
    });
    response.off('close', leave);
    if (gone.signal.aborted) return;
    if (!isVisible)
      throw new HttpProblem('not_yet_visible', { headers: { 'Retry-After': RETRY_AFTER_SECONDS } });
    next();
  };

/**
 * Keeps waiting, unless the log itself has not reached the position: then the token is made up, and waiting
 * is useless.
 */
const isVisibleLater = async (
  { readPosition, eventLog, waitMaxMs }: ConsistencyOptions,
  position: Position,
  signal: AbortSignal,
): Promise<boolean> => {
  if (signal.aborted || waitMaxMs <= 0) return false;
  const refused = new AbortController();
  const visible = readPosition.reaches(position, waitMaxMs, AbortSignal.any([signal, refused.signal]));
  // If the log does not respond, the token counts as genuine.
  const head = headReaching(eventLog, position).catch(() => undefined);
  if (
    (await Promise.race([visible, head.then((end) => end !== undefined && position > end && BEYOND)])) !==
    BEYOND
  )
    return visible;
  refused.abort();
  throw new HttpProblem('unknown_cursor', {
    detail: `${CONSISTENCY_TOKEN}: this cursor is beyond the end of the log.`,
  });
};

const BEYOND = Symbol('beyond the end of the log');

const pointOf = (eventLog: Pick<EventLog, 'identity' | 'lost'>, token: string): CursorPoint => {
  try {
    return parseOwnPoint(eventLog, token);
  } catch (error) {
    if (error instanceof UnknownCursor) throw refusalOf(error);
    throw error;
  }
};

/** If the log does not respond, the token counts as genuine. */
const demandOwn = async (eventLog: OwnLog, point: CursorPoint): Promise<void> => {
  await demandEventOf(eventLog, point).catch((error: unknown) => {
    if (error instanceof UnknownCursor) throw refusalOf(error);
  });
};

const refusalOf = (cause: UnknownCursor): HttpProblem =>
  new HttpProblem(cause.code, { detail: `${CONSISTENCY_TOKEN}: ${cause.message}.`, cause });
