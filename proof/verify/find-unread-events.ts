import type { Position, StreamName, Version } from '#kernel/base/brands.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { refusedType } from '#shared/event-log/foreign-record.ts';

type Unread = {
  readonly kind: 'event_not_authentic';
  readonly stream: StreamName;
  readonly version: Version;
  readonly position: Position;
  readonly type: string;
};

/**
 * Events at positions below 1: followers begin later, but commands read them with their stream. A report has no position
 * below 0.
 */
export const findUnreadEvents = async ({ beforeStart }: EventLog): Promise<readonly Unread[]> =>
  ((await beforeStart?.()) ?? []).map(({ stream, version, ...event }) => ({
    kind: 'event_not_authentic',
    ...{ stream, version, position: START, type: refusedType(event) ?? event.type },
  }));
