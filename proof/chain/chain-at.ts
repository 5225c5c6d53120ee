import type { Position } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { IndexedLog } from '#shared/event-index/position-at.ts';
import { START } from '#shared/event-log/event-log.ts';
import { readBetween } from '#shared/event-log/read-between.ts';
import { headAt } from '../stored/blocks.ts';
import { type Canonical, hashOf } from '../stored/canonical.ts';
import { extend, GENESIS } from '../stored/chain.ts';

/** The number of events of the log up to a position, and the head of the chain over them. */
export type ChainState = { readonly count: number; readonly head: Buffer };

export const CHAIN_START: ChainState = { count: 0, head: GENESIS };

export const extendBy = ({ count, head }: ChainState, event: Canonical): ChainState => ({
  count: count + 1,
  head: extend(head, hashOf(event)),
});

/** Starts from the last block that ends at or before the position, and reads on from it. */
export const chainAt = async ({ pool, eventLog }: IndexedLog, position: Position): Promise<ChainState> => {
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
