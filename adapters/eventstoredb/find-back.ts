import { END } from '@eventstore/db-client';
import type { EventId, Position, StreamName } from '#kernel/base/brands.ts';
import type { Appended } from '#shared/event-log/event-log.ts';
import { ask, type Reader, readPageBack } from './read.ts';
import { positionOf } from './record.ts';
import { versionAt } from './server-positions.ts';

type Sought = { readonly id: EventId; readonly after: Position };

/** Finds an event of a stream after a position, reading the latest first: the server has no index of ids. */
export const findBack = async (
  reader: Reader,
  stream: StreamName,
  { id, after }: Sought,
): Promise<Appended | undefined> => {
  for (let from: bigint | typeof END = END; ; ) {
    const { events } = await ask(reader, `a search in ${stream}`, () => readPageBack(reader, stream, from));
    for (const event of events) {
      if (positionOf(event) <= after) return undefined;
      if (event.id === id) return { version: versionAt(event.revision), position: positionOf(event) };
    }
    const oldest = events.at(-1);
    if (oldest === undefined || oldest.revision === 0n) return undefined;
    from = oldest.revision - 1n;
  }
};
