import { setImmediate as breathe } from 'node:timers/promises';
import type { LogIdentity } from '#kernel/base/brands.ts';
import { sendPipelined } from '#shared/database/pipeline.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { FileUnreadable, type OutsideHead, readOutside } from '../heads/tree-head-file.ts';
import { chainEndIn, FIND_CHAIN_END, readChainEnd } from '../stored/blocks.ts';
import { FIND_NEWEST_KEY, signersIn } from '../stored/signers.ts';
import { openSigner, type Signer } from '../stored/signing-keys.ts';
import { GrowingTree, type Tile } from '../tree/growing-tree.ts';
import { split } from '../tree/hashes.ts';
import { type Leaves, leavesOf } from '../tree/leaves.ts';
import { writeNote } from '../tree/note.ts';
import { noteKeyOf, ownHeadIn } from '../tree/note-key.ts';
import { proofsOf } from '../tree/proofs.ts';
import {
  FIND_TREE_HEAD,
  readEdge,
  readHashes,
  readTreeHead,
  type StoredTreeHead,
  saveGrowth,
  TreeDamaged,
  tileReader,
  treeHeadIn,
} from '../tree/tiles.ts';
import { originOf, writeTreeHead } from '../tree/tree-head.ts';
import { differs, edited, TreeBehind, TreeRefused } from './tree-refusals.ts';

type TreeDependencies = {
  readonly pool: Pool;
  readonly masterKey: MasterKey;
  readonly log: LogIdentity;
  /** The file of the head outside the database. */
  readonly file: string;
  /** Called when the tree does not grow, because nothing may be signed that contradicts a head of ours. */
  onRefused(error: unknown): void;
};

type Growth = {
  /** The number of events in the chain before. */
  readonly count: number;
  readonly hashes: Buffer;
  /** The answers to `QUESTIONS`. */
  readonly answers: Awaited<ReturnType<typeof sendPipelined>>;
};

/** Sent with the other questions of a page. */
export const QUESTIONS = [FIND_TREE_HEAD, FIND_NEWEST_KEY] as const;
const NOTHING: StoredTreeHead = { size: 0, note: null };
/** Some seconds of hashing would stop the process from serving, so a long log is caught up with in parts. */
const PART_EVENTS = 2_000;

/** The tree over the events of the chain, as the process that builds the chain grows it. */
export class ChainTree {
  readonly #given: TreeDependencies;
  readonly #leaves: Leaves;
  readonly #signerIn: ReturnType<typeof signersIn>;
  #known: { readonly tree: GrowingTree; readonly note: string | null } | undefined;
  /** The head outside the database when this process began. */
  #outside: OutsideHead | undefined;
  #isRefused = false;

  constructor(given: TreeDependencies) {
    this.#given = given;
    this.#leaves = leavesOf(given.masterKey);
    this.#signerIn = signersIn(given.masterKey);
  }

  /** The note that was saved last, to be published after the commit. */
  get note(): string | null {
    return this.#known?.note ?? null;
  }

  /** Grows it up to the end of the chain: a log from before it had a tree gets it at once. */
  async catchUp(signal: AbortSignal): Promise<void> {
    const { pool } = this.#given;
    await openSigner(this.#given);
    this.#known = undefined;
    this.#isRefused = false;
    const advance = (connection: Connection) => this.#advance(connection);
    try {
      await this.#compareOutside();
      while (!signal.aborted && !(await inTransaction(pool, advance))) await breathe();
    } catch (error) {
      this.#refuseBy(error);
    }
  }

  /** Adds events, in the transaction that adds them to the chain. */
  async grow(connection: Connection, { count, hashes, answers: [found, newest] }: Growth): Promise<void> {
    const stored = treeHeadIn(found) ?? NOTHING;
    // A chain that is built again is behind its tree for a while.
    if (this.#isRefused || stored.size > count) return;
    if (stored.size < count) throw new TreeBehind(stored.size, count);
    try {
      await this.#save(connection, hashes, await this.#treeAt(connection, stored), this.#signerIn(newest));
    } catch (error) {
      this.#refuseBy(error);
    }
  }

  /** The chain goes on without its tree, until the next owner of the lease tries again. */
  #refuseBy(error: unknown): void {
    if (!(error instanceof TreeRefused || error instanceof TreeDamaged || error instanceof FileUnreadable))
      throw error;
    this.#isRefused = true;
    this.#given.onRefused(error);
  }

  /** Returns whether the tree has reached the end of the chain. */
  async #advance(connection: Connection): Promise<boolean> {
    const [end, found, newest] = await sendPipelined(connection, [FIND_CHAIN_END, ...QUESTIONS]);
    const { count } = chainEndIn(end);
    const stored = treeHeadIn(found) ?? NOTHING;
    // A chain that is built again is behind its tree for a while.
    if (stored.size > count || count === 0) return true;
    const tree = await this.#treeAt(connection, stored);
    this.#known = { tree, note: stored.note };
    const signer = this.#signerIn(newest);
    const to = Math.min(stored.size + PART_EVENTS, count);
    if (to === stored.size && (await this.#isOurs(connection, stored, signer))) return true;
    await this.#save(connection, await readHashes(connection, stored.size, to), tree, signer);
    return to >= count;
  }

  /** After a rotation, or under a new name of the log, the same head is signed again. */
  async #isOurs(connection: Connection, { note }: StoredTreeHead, { publicKey }: Signer): Promise<boolean> {
    const { masterKey, log } = this.#given;
    const found = await ownHeadIn({ connection, masterKey }, note);
    const key = noteKeyOf(publicKey, log);
    return found?.key.name === key.name && found.key.publicKey.equals(key.publicKey);
  }

  /**
   * A transaction that failed, or another process, has left another head than ours: then the tree is read
   * again. Somebody may have edited it meanwhile, so nothing is signed that does not follow from a head of ours.
   */
  async #treeAt(connection: Connection, { size, note }: StoredTreeHead): Promise<GrowingTree> {
    if (this.#known?.tree.size === size && this.#known.note === note) return this.#known.tree;
    const tree = new GrowingTree(size, await readEdge(tileReader(connection, this.#leaves), size));
    // Only a database that was restored is without a note, until it has reached the head outside.
    if (note === null && size < (this.#outside?.size ?? 1)) return tree;
    const signed = await ownHeadIn({ connection, masterKey: this.#given.masterKey }, note);
    if (signed?.head.size !== size || !signed.head.root.equals(tree.root())) throw edited(size);
    return tree;
  }

  async #save(connection: Connection, hashes: Buffer, tree: GrowingTree, signer: Signer): Promise<void> {
    this.#known = undefined;
    const filled: Tile[] = [];
    for (const hash of split(hashes)) {
      filled.push(...tree.append(this.#leaves.leafOf(tree.size, hash)));
      if (tree.size === this.#outside?.size && !tree.root().equals(this.#outside.root))
        throw differs(this.#given.file, this.#outside);
    }
    const note = tree.size < (this.#outside?.size ?? 0) ? null : this.#signed(tree, signer);
    await saveGrowth(connection, filled, { size: tree.size, note });
    this.#known = { tree, note };
  }

  #signed(tree: GrowingTree, signer: Signer): string {
    const { log } = this.#given;
    const text = writeTreeHead({ origin: originOf(log), size: tree.size, root: tree.root() });
    return writeNote(text, noteKeyOf(signer.publicKey, log), Buffer.from(signer.sign(text), 'base64url'));
  }

  /** If the file covers more than the tree, it is compared when the tree has grown that far. */
  async #compareOutside(): Promise<void> {
    const { pool, file } = this.#given;
    const outside = await readOutside(file, this.#given);
    this.#outside = outside;
    if (outside === undefined || outside.size === 0) return;
    const [{ size }, { count }] = [(await readTreeHead(pool)) ?? NOTHING, await readChainEnd(pool)];
    if (Math.min(size, count) < outside.size) return;
    const root = await proofsOf(tileReader(pool, this.#leaves), size).rootAt(outside.size);
    if (!root.equals(outside.root)) throw differs(file, outside);
  }
}
