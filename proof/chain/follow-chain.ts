import { setImmediate as breathe } from 'node:timers/promises';
import type { Position } from '#kernel/base/brands.ts';
import { CHAIN } from '#shared/audit/chain.ts';
import { isAcceptedSince } from '#shared/authentic-events/accepted-since.ts';
import { dateElsewhereMs } from '#shared/clock/clock.ts';
import { sendPipelined } from '#shared/database/pipeline.ts';
import type { Connection } from '#shared/database/pool.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { type Batch, followAhead } from '#shared/follower/follow-ahead.ts';
import { type FollowingOptions, FULL_EVENTS, startFollowing } from '#shared/follower/follower.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { removeLeftovers } from '#shared/leftovers.ts';
import { openTreeHeadFile, treeHeadFileIn } from '../heads/tree-head-file.ts';
import {
  BLOCK_EVENTS_MAX,
  type ChainEnd,
  chainEndIn,
  FIND_CHAIN_END,
  insertBlock,
} from '../stored/blocks.ts';
import { HASH_BYTES } from '../stored/chain.ts';
import { blockOf, hashesOf } from './block-of.ts';
import { ChainTree, QUESTIONS } from './grow-tree.ts';

type ChainDependencies = Pick<
  FollowingOptions<unknown>,
  'pool' | 'eventLog' | 'log' | 'metrics' | 'clock'
> & {
  readonly masterKey: MasterKey;
  readonly auditDir: string;
  /** Called with each new head of the tree, and with the present one when this process begins to grow it. */
  onHead?(note: string): void;
};

/** Nobody waits for a block, and each costs a transaction, so events are gathered for this time. */
const REST_MS = 200;

/**
 * Builds the chain beside the log, and the tree over it, in one process at a time: blocks, tiles, the head of the
 * tree and the position are written in one transaction.
 */
export const startChain = async (dependencies: ChainDependencies): Promise<AsyncDisposable> => {
  const { pool, masterKey, eventLog, log, clock, auditDir, onHead } = dependencies;
  await using opening = new AsyncDisposableStack();
  const path = treeHeadFileIn(auditDir);
  await removeLeftovers(path, dateElsewhereMs(clock));
  const onFailure = (err: unknown) => log.error({ err }, 'The head of the tree cannot be written.');
  const file = opening.use(openTreeHeadFile(path, { clock, onFailure }));
  const onRefused = (err: unknown) => log.error({ err }, 'The tree over the log does not grow.');
  const tree = new ChainTree({ pool, masterKey, log: eventLog.identity, file: path, onRefused });
  const publish = () => {
    if (tree.note === null) return;
    file.offer(tree.note);
    onHead?.(tree.note);
  };
  opening.use(
    await startFollowing<Batch<Buffer>>({
      ...dependencies,
      name: CHAIN,
      restMs: REST_MS,
      async *follow(after, signal, event) {
        await tree.catchUp(signal);
        publish();
        for await (const batch of followAhead({ eventLog, signal, event, prepare: hashInParts }, after)) {
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
      isExpected: (error) => error instanceof AcceptedMeanwhile,
      async write({ events, ready }, connection, { after }) {
        const refused = events.map(({ notAuthentic }) => notAuthentic).filter((each) => each !== undefined);
        if (
          refused.length > 0 &&
          (await isAccepted(refused, { connection, masterKey, log: eventLog.identity }))
        ) {
          log.info(
            'An operator has accepted events that this process reads as refused: the chain waits for it.',
          );
          throw new AcceptedMeanwhile();
        }
        const [end, ...answers] = await sendPipelined(connection, [FIND_CHAIN_END, ...QUESTIONS]);
        const [hashes, before] = [Buffer.concat(ready), chainEndIn(end)];
        await writeBlocks(connection, { events, hashes, after, end: before });
        await tree.grow(connection, { count: before.count, hashes, answers });
      },
      committed: publish,
    }),
  );
  const resources = opening.move();
  return { [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

type Reading = Parameters<typeof isAcceptedSince>[0];

/** While this transaction writes blocks, no operator accepts an event by what the chain had before (audit-decide.ts). */
const isAccepted = async (digests: readonly string[], reading: Reading): Promise<boolean> => {
  await reading.connection.query('lock table audit.block in row exclusive mode');
  return isAcceptedSince(reading, digests);
};

/** The process knows the decision within a minute, and reads the events again. */
class AcceptedMeanwhile extends Error {
  constructor() {
    super('an operator has accepted events that this process still reads as refused');
    this.name = 'AcceptedMeanwhile';
  }
}

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
