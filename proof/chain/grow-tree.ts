import { setImmediate as breathe } from 'node:timers/promises';
import type { LogIdentity } from '#kernel/base/brands.ts';
import { sendPipelined } from '#shared/database/pipeline.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { chainEndIn, FIND_CHAIN_END } from '../stored/blocks.ts';
import { FIND_NEWEST_KEY, openSigner, type Signer, signersIn } from '../stored/signing-keys.ts';
import { originOf, writeCheckpoint } from '../tree/checkpoint.ts';
import { GrowingTree, type Tile } from '../tree/growing-tree.ts';
import { split } from '../tree/hashes.ts';
import { leavesOf } from '../tree/leaves.ts';
import { writeNote } from '../tree/note.ts';
import {
  checkpointIn,
  FIND_CHECKPOINT,
  readEdge,
  readHashes,
  saveGrowth,
  tileReader,
} from '../tree/tiles.ts';
import { noteKeyOf } from './note-key.ts';

type TreeDependencies = {
  readonly pool: Pool;
  readonly masterKey: MasterKey;
  readonly log: LogIdentity;
};

/** The tree over the events of the chain, as the process that builds the chain grows it. */
export type Tree = {
  /** Grows it up to the end of the chain: a log from before it had a tree gets it at once. */
  catchUp(signal: AbortSignal): Promise<void>;
  /** Sent with the other questions of a page; `grow` takes the answers. */
  readonly asks: typeof ASKS;
  /** Adds events to a tree over `count` of them, in the transaction that adds them to the chain. */
  grow(connection: Connection, growth: Growth): Promise<void>;
};

type Growth = {
  readonly count: number;
  readonly hashes: Buffer;
  readonly answers: Awaited<ReturnType<typeof sendPipelined>>;
};

const ASKS = [FIND_CHECKPOINT, FIND_NEWEST_KEY] as const;
/** Some seconds of hashing would stop the process from serving, so a long log is caught up with in parts. */
const PART_EVENTS = 10_000;

export const createTree = ({ pool, masterKey, log }: TreeDependencies): Tree => {
  const leaves = leavesOf(masterKey);
  const signerIn = signersIn(masterKey);
  const origin = originOf(log);
  /** Its size is compared with the stored one: after a transaction that failed, it is read again. */
  let known = new GrowingTree();

  const treeOf = async (connection: Connection, size: number): Promise<GrowingTree> => {
    if (known.size !== size)
      known = new GrowingTree(size, await readEdge(tileReader(connection, leaves), size));
    return known;
  };

  const save = async (connection: Connection, hashes: Buffer, tree: GrowingTree, signer: Signer) => {
    const filled: Tile[] = [];
    for (const hash of split(hashes)) filled.push(...tree.append(leaves.leafOf(tree.size, hash)));
    const text = writeCheckpoint({ origin, size: tree.size, root: tree.root() });
    const key = noteKeyOf(signer.publicKey, log);
    const note = writeNote(text, key, Buffer.from(signer.sign(text), 'base64url'));
    await saveGrowth(connection, filled, { size: tree.size, note });
  };

  /** Returns whether the tree has reached the end of the chain. */
  const advance = async (connection: Connection): Promise<boolean> => {
    const [end, checkpoint, key] = await sendPipelined(connection, [FIND_CHAIN_END, ...ASKS]);
    const { count } = chainEndIn(end);
    const size = checkpointIn(checkpoint)?.size ?? 0;
    const to = Math.min(size + PART_EVENTS, count);
    if (to > size) {
      const hashes = await readHashes(connection, size, to);
      await save(connection, hashes, await treeOf(connection, size), signerIn(key));
    }
    return to >= count;
  };

  return {
    asks: ASKS,
    async catchUp(signal) {
      await openSigner({ pool, masterKey });
      while (!signal.aborted && !(await inTransaction(pool, advance))) await breathe();
    },
    async grow(connection, { count, hashes, answers: [checkpoint, key] }) {
      const size = checkpointIn(checkpoint)?.size ?? 0;
      if (size !== count) throw new TreeBehind(size, count);
      await save(connection, hashes, await treeOf(connection, size), signerIn(key));
    },
  };
};

/** An older release has added to the chain meanwhile. The follower starts again, and catches up first. */
class TreeBehind extends Error {
  constructor(size: number, count: number) {
    super(`the tree over the log has ${size} events, and the chain ${count}`);
    this.name = 'TreeBehind';
  }
}
