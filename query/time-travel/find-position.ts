import type { Position, StreamName, Version } from '#kernel/base/brands.ts';
import { isMoment } from '#kernel/base/rest/at.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { type Clock, dateElsewhereMs } from '#shared/clock/clock.ts';
import type { IndexedLog } from '#shared/event-index/position-at.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import type { ReadPosition } from '#shared/read-model/read-position.ts';
import { positionOfCursor } from '../rest/cursor-position.ts';
import { type Charge, createMeter } from '../rest/meter.ts';
import { findTime } from './find-time.ts';

/**
 * The position of a point in time, which is a time, a cursor or a version. A version is of the item of
 * `stream`. Reading for it is charged.
 */
export type FindPosition = (at: string, charge: Charge, stream?: StreamName) => Promise<Position>;

export type PositionOptions = IndexedLog & {
  readonly eventLog: Pick<
    EventLog,
    'identity' | 'namesEvents' | 'remembered' | 'eventAt' | 'head' | 'read' | 'follow'
  >;
  readonly readPosition: Pick<ReadPosition, 'reaches'>;
  readonly visibleWithinMs: number;
  readonly clock: Clock;
};

/**
 * Current rights come from the read model, so no answer is at a position that the read model has not reached.
 */
export const createPositionFinder =
  (options: PositionOptions): FindPosition =>
  async (at, charge, stream) => {
    const position = await positionOf(options, at, { charge, stream });
    if (await options.readPosition.reaches(position, options.visibleWithinMs)) return position;
    throw new HttpProblem('not_yet_visible', { headers: { 'Retry-After': RETRY_AFTER_SECONDS } });
  };

const RETRY_AFTER_SECONDS = '1';

type Asked = { readonly charge: Charge; readonly stream: StreamName | undefined };

const positionOf = async (
  { pool, eventLog, clock }: PositionOptions,
  at: string,
  { charge, stream }: Asked,
): Promise<Position> => {
  if (!isMoment(at))
    throw refused('Must be a time in the RFC 3339 format, a cursor, or the version of an item, such as v3.');
  if (at.startsWith('v')) {
    if (stream === undefined) throw refused('A list has no versions: send a time or a cursor.');
    return positionOfVersion(createMeter(charge).metered(eventLog), stream, Number(at.slice(1)) as Version);
  }
  if (!at.includes(':')) return positionOfCursor(at, { eventLog, known: START, parameter: 'at' });
  const time = new Date(at.toUpperCase());
  if (time.getTime() > dateElsewhereMs(clock)) throw refused('Must not be in the future.');
  return findTime({ pool, eventLog }, time, charge);
};

export const refused = (detail: string): HttpProblem =>
  new HttpProblem('invalid_parameter', { extensions: { errors: [{ parameter: 'at', detail }] } });

const positionOfVersion = async (
  eventLog: Pick<EventLog, 'read'>,
  stream: StreamName,
  version: Version,
): Promise<Position> => {
  for await (const [event] of eventLog.read(stream, version, version)) if (event) return event.position;
  throw new HttpProblem('version_not_found');
};
