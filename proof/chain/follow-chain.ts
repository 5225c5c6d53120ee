import { setImmediate as breathe } from 'node:timers/promises';
import type { Position } from '#kernel/base/brands.ts';
import { CHAIN } from '#shared/audit/chain.ts';
import { sendPipelined } from '#shared/database/pipeline.ts';
import type { Connection } from '#shared/database/pool.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { type Batch, followAhead } from '#shared/follower/follow-ahead.ts';
import { type FollowingOptions, FULL_EVENTS, startFollowing } from '#shared/follower/follower.ts';
import { type ChainEnd, chainEndIn, FIND_CHAIN_END, insertBlock } from '../stored/blocks.ts';
import { HASH_BYTES } from '../stored/chain.ts';
import { blockOf, hashesOf } from './block-of.ts';

type ChainDependencies = Pick<FollowingOptions<unknown>, 'pool' | 'eventLog' | 'log' | 'metrics' | 'clock'>;

/** Nobody waits for a block, and each costs a transaction, so events are gathered for this time. */
const REST_MS = 200;
const BLOCK_EVENTS_MAX = 1_000;

/**
 * Builds the chain beside the log, in one process at a time: blocks and checkpoint are written in one
 * transaction.
 */
export const startChain = (dependencies: ChainDependencies): Promise<AsyncDisposable> =>
  startFollowing<Batch<Buffer>>({
    ...dependencies,
    name: CHAIN,
    restMs: REST_MS,
    async *follow(after, signal, event) {
      for await (const batch of followAhead(
        { eventLog: dependencies.eventLog, signal, event, prepare: hashInParts },
        after,
      )) {
        const last = batch.events.at(-1);
        if (last)
          yield {
            page: batch,
            upTo: last.position,
            event: last.id,
            isFull: batch.events.length >= FULL_EVENTS,
          };
      }
    },
    async write({ events, ready }, connection, { after }) {
      const [end] = await sendPipelined(connection, [FIND_CHAIN_END]);
      await writeBlocks(connection, { events, hashes: Buffer.concat(ready), after, end: chainEndIn(end) });
    },
  });

/** Hashing blocks the event loop, so it is done in parts, between which requests are served. */
const PART_EVENTS = 50;

const hashInParts = async (events: readonly RecordedEvent[]): Promise<Buffer> => {
  const parts: Buffer[] = [];
  for (let from = 0; from < events.length; from += PART_EVENTS) {
    if (from > 0) await breathe();
    parts.push(hashesOf(events.slice(from, from + PART_EVENTS)));
  }
  return Buffer.concat(parts);
};

type Hashed = {
  readonly events: readonly RecordedEvent[];
  readonly hashes: Buffer;
  readonly after: Position;
  readonly end: ChainEnd;
};

const writeBlocks = async (connection: Connection, given: Hashed): Promise<void> => {
  const { events, hashes, after } = given;
  let { end } = given;
  if (end.position !== after) throw new ChainBroken(end.position, after);
  for (let from = 0; from < events.length; from += BLOCK_EVENTS_MAX) {
    const to = Math.min(from + BLOCK_EVENTS_MAX, events.length);
    const block = blockOf(end, events.slice(from, to), hashes.subarray(from * HASH_BYTES, to * HASH_BYTES));
    await insertBlock(connection, block);
    end = { ...block, position: block.lastPosition };
  }
};

/**
 * The last block does not end at the checkpoint: blocks were removed, or the checkpoint was moved by hand.
 */
class ChainBroken extends Error {
  constructor(end: Position, after: Position) {
    super(`the hash chain ends at position ${end}, but was already read up to ${after}`);
    this.name = 'ChainBroken';
  }
}
