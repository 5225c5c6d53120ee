import type { Position } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type EventLog, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { type Canonical, hashOf } from '#shared/events/canonical.ts';
import { headAt } from './blocks.ts';
import { extend, GENESIS } from './chain.ts';
import type { AuditedLog } from './position-at.ts';

/** The number of events of the log up to a position, and the head of the chain over them. */
export type ChainState = { readonly count: number; readonly head: Buffer };

export const CHAIN_START: ChainState = { count: 0, head: GENESIS };

export const extendBy = ({ count, head }: ChainState, event: Canonical): ChainState => ({
  count: count + 1,
  head: extend(head, hashOf(event)),
});

/** Starts from the last block that ends at or before the position, and reads on from it. */
export const chainAt = async ({ pool, eventLog }: AuditedLog, position: Position): Promise<ChainState> => {
  const { rows } = await pool.query<ChainState & { position: Position }>(
    'select count, head, last_position as position from audit.block where last_position <= $1 order by last_position desc limit 1',
    [position],
  );
  let state: ChainState = rows[0] ?? CHAIN_START;
  const after = rows[0]?.position ?? START;
  for await (const events of readBetween(eventLog, { after, upTo: position })) {
    for (const event of events) state = extendBy(state, event);
  }
  return state;
};

/** Whether the chain agrees, if it is that long: nobody may sign a head that contradicts it. */
export const agreesWithChain = async (pool: Pool, { count, head }: ChainState): Promise<boolean> => {
  const known = await headAt(pool, count);
  return known === undefined || known.equals(head);
};

type Range = { readonly after: Position; readonly upTo: Position };

/** The events after one position up to another that the log has reached; ends early if the signal aborts. */
export async function* readBetween(
  eventLog: Pick<EventLog, 'follow'>,
  { after, upTo }: Range,
  signal?: AbortSignal,
): AsyncGenerator<readonly RecordedEvent[]> {
  if (after >= upTo) return;
  const leaving = new AbortController();
  const ended = signal === undefined ? leaving.signal : AbortSignal.any([leaving.signal, signal]);
  try {
    for await (const events of eventLog.follow(after, ended)) {
      const last = events.at(-1)?.position ?? after;
      yield last <= upTo ? events : events.filter(({ position }) => position <= upTo);
      if (last >= upTo) return;
    }
  } finally {
    leaving.abort();
  }
}
