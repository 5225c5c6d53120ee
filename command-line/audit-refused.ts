import type { Position } from '#kernel/base/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { type EventLog, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { refusedType } from '#shared/event-log/foreign-record.ts';
import { readBetween } from '#shared/event-log/read-between.ts';
import { counter } from '../proof/chain/place-in-chain.ts';
import { readChainEnd } from '../proof/stored/blocks.ts';
import { hashOf } from '../proof/stored/canonical.ts';

/** An event without the right MAC, which an operator may decide about. */
export type Refused = Pick<RecordedEvent, 'stream' | 'version' | 'position'> & {
  readonly type: string;
  readonly digest: string;
  /** As the chain has it. */
  readonly hash: Buffer;
};

/** The refused events of the log, in its order. */
export const refusedIn = async (
  eventLog: EventLog,
  isMeant: (event: RecordedEvent) => boolean,
): Promise<readonly Refused[]> => {
  const found: Refused[] = [];
  const upTo = await eventLog.head();
  for await (const page of readBetween(eventLog, { after: START, upTo }))
    for (const event of page) {
      const { stream, version, position, notAuthentic: digest } = event;
      if (digest === undefined || !isMeant(event)) continue;
      const [type, hash] = [refusedType(event) ?? event.type, hashOf(event)];
      found.push({ stream, version, position, type, digest, hash });
    }
  return found;
};

/** The events after a position that the chain has as records of somebody else, and up to where it was compared. */
export const foreignIn = async (
  database: Pool | Connection,
  found: readonly Refused[],
  after: Position,
): Promise<{ readonly upTo: Position; readonly events: readonly Refused[] }> => {
  const { position: upTo } = await readChainEnd(database);
  const find = counter(database);
  const events: Refused[] = [];
  for (const event of found)
    if (event.position > after && event.position <= upTo && (await find(event, event.hash)) !== undefined)
      events.push(event);
  return { upTo, events };
};
