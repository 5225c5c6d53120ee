import { createHash } from 'node:crypto';
import type { Request } from 'express';
import type { Position } from '#kernel/base/brands.ts';
import { always } from '#kernel/conditions/expression.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { cursorAt } from '#shared/event-log/own-cursor.ts';
import { type Caller, reachOf, userIdOf } from '#shared/policy.ts';
import type { Feed } from '../changes/feed.ts';
import { firstCursorOf, positionOfCursor } from '../rest/cursor-position.ts';
import type { ViewSource } from './source.ts';

/**
 * A cursor of a view’s stream: a cursor of the log, and a stamp of the rows and rights of the stream. A
 * client that returns with other rights or another filter lacks rows that it has not been sent. A plain
 * cursor of the log is accepted as it is.
 */
export const formatStreamCursor = (
  eventLog: Pick<EventLog, 'identity' | 'namesEvents' | 'remembered'>,
  position: Position,
  stamp: string,
): string => `${cursorAt(eventLog, position)}${SEPARATOR}${stamp}`;

const SEPARATOR = '.';
const STAMP_CHARACTERS = 8;

/** The cursor of the log in it; `isSame` if it is of the same stream. */
const readStreamCursor = (
  text: string,
  stamp: string,
): { readonly cursor: string; readonly isSame: boolean } => {
  const [cursor = '', given] = text.split(SEPARATOR, 2);
  return { cursor, isSame: given === undefined || given === stamp };
};

export const stampOf = (
  { view, right }: ViewSource,
  caller: Caller,
  equal: Readonly<Record<string, unknown>>,
): string => {
  const reach = reachOf(caller, right);
  const viewer = reach.has(always) ? null : userIdOf(caller);
  return createHash('sha256')
    .update(JSON.stringify([view.name, [...reach], viewer, equal]))
    .digest('base64url')
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .slice(0, STAMP_CHARACTERS);
};

type Placing = {
  readonly eventLog: Pick<EventLog, 'identity' | 'eventAt' | 'head'>;
  readonly feed: Pick<Feed, 'upTo'>;
  readonly stamp: string;
};

/** The position to resume after; undefined for a client that has nothing of this stream yet. */
export const streamPositionOf = async (
  request: Pick<Request, 'get'>,
  given: string | undefined,
  { eventLog, feed, stamp }: Placing,
): Promise<Position | undefined> => {
  const { text, parameter } = firstCursorOf(request, given);
  if (text === undefined) return undefined;
  const { cursor, isSame } = readStreamCursor(text, stamp);
  const position = await positionOfCursor(cursor, { eventLog, known: feed.upTo, parameter });
  return isSame ? position : undefined;
};
