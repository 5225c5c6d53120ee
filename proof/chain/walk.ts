import type { Block } from '../stored/blocks.ts';
import { extendByAll, GENESIS, HASH_BYTES } from '../stored/chain.ts';
import { latestOf, timesOf } from './block-of.ts';
import { compareBlock, type SeenEvent } from './compare-block.ts';
import type { ChainReport, Findings } from './findings.ts';
import type { HeadSources, SourcedHead } from './head-sources.ts';
import { Tracks } from './tracks.ts';

/** Walks through log and blocks in parallel. */
export class Walk {
  readonly #findings: Findings;
  readonly #heads: HeadSources;
  readonly #blocks: AsyncIterator<readonly Block[]>;
  readonly #tracks: Tracks;
  #page: Block[] = [];
  #block: Block | undefined;
  #isBegun = false;
  /** The events of the present block, or those in no block. */
  #seen: SeenEvent[] = [];
  /** The number of checked events, and the number that the chain has counted. */
  #events = 0;
  #count = 0;
  /** Blocks up to this count are known to be missing. */
  #gap = 0;
  #stored: Buffer = GENESIS;
  #latestAt: Date | null = null;
  #outside: SourcedHead | undefined;

  constructor(findings: Findings, heads: HeadSources, blocks: AsyncGenerator<readonly Block[]>) {
    this.#findings = findings;
    this.#heads = heads;
    this.#blocks = blocks;
    this.#tracks = new Tracks(findings);
  }

  async step(event: SeenEvent): Promise<void> {
    if (!this.#isBegun) await this.#nextBlock();
    this.#isBegun = true;
    this.#events += 1;
    while (this.#block && event.position > this.#block.lastPosition) await this.#closeBlock(this.#block);
    if (this.#block && !this.#isBefore(this.#block, event)) this.#seen.push(event);
    else await this.#loosely(event);
  }

  async end(isWhole: boolean, chained: number): Promise<ChainReport> {
    if (!this.#isBegun) await this.#nextBlock();
    if (this.#block) await this.#closeLast(this.#block, isWhole, chained);
    this.#tracks.end();
    if (isWhole) await this.#findCut();
    const { says } = this.#outside ?? {};
    const { listed, total } = this.#findings;
    const head = this.#tracks.byLog.toString('hex');
    const signed = says?.count ?? 0;
    const unproven = { events: Math.max(this.#events - signed, 0), since: says?.at ?? null };
    return {
      events: this.#events,
      head,
      chained: Math.min(chained, this.#count),
      signed,
      unproven,
      findings: listed,
      findingsTotal: total,
    };
  }

  /**
   * The event lies before the block: blocks in between are missing, and their events can be compared with
   * heads only.
   */
  #isBefore({ count, events, firstPosition }: Block, { position }: SeenEvent): boolean {
    const before = count - events;
    if (position >= firstPosition || this.#count >= before) return false;
    if (this.#gap !== before) this.#findings.add({ kind: 'block_missing', count: before });
    this.#gap = before;
    return true;
  }

  async #loosely(event: SeenEvent): Promise<void> {
    this.#tracks.meetAgain(event, this.#count + 1);
    await this.#advance(this.#count + 1, [event.hash]);
    this.#latestAt = latestOf(this.#latestAt, event.at);
  }

  async #closeBlock(block: Block): Promise<void> {
    const before = block.count - block.events;
    if (before !== this.#count && before !== this.#gap)
      this.#findings.add({ kind: 'block_missing', count: before });
    this.#count = before;
    const differences = compareBlock(block, this.#seen);
    this.#tracks.differ(differences, block.count);
    const inBlock = Array.from({ length: block.events }, (_, n) =>
      block.hashes.subarray(n * HASH_BYTES, (n + 1) * HASH_BYTES),
    );
    await this.#advance(
      block.count,
      inBlock,
      differences.length === 0 ? inBlock : this.#seen.map(({ hash }) => hash),
    );
    this.#checkBlock(block, differences.length === 0);
    this.#stored = block.head;
    this.#seen = [];
    await this.#nextBlock();
  }

  /**
   * Checks that the head of the block follows from the previous one, and that its times are those of its
   * events.
   */
  #checkBlock(block: Block, isSame: boolean): void {
    const follows =
      this.#tracks.byBlocks.equals(block.head) || extendByAll(this.#stored, block.hashes).equals(block.head);
    const { firstAt, lastAt } = timesOf(this.#seen.map(({ at }) => at));
    this.#latestAt = latestOf(this.#latestAt, lastAt);
    const times: readonly (readonly [Date | null, Date | null])[] = [
      [firstAt, block.firstAt],
      [lastAt, block.lastAt],
      [this.#latestAt, block.latestAt],
    ];
    const isTimely = !isSame || times.every(([one, other]) => one?.getTime() === other?.getTime());
    if (!follows || !isTimely) this.#findings.add({ kind: 'block_changed', count: block.count });
    // The original times of changed events are unknown.
    if (!isSame) this.#latestAt = block.latestAt;
  }

  /** Extends both tracks, and checks each head on the way. */
  async #advance(upTo: number, inBlocks: readonly Uint8Array[], inLog = inBlocks): Promise<void> {
    const before = this.#count;
    let from = 0;
    const extendTo = (to: number) => {
      const ofBlocks = inBlocks.slice(from, to);
      const isLast = to === inBlocks.length;
      this.#tracks.extend(
        inLog === inBlocks ? ofBlocks : inLog.slice(from, isLast ? inLog.length : to),
        ofBlocks,
      );
      from = to;
    };
    for (const head of await this.#heads.upTo(upTo)) {
      extendTo(head.says.count - before);
      this.#tracks.judge(head);
      if (head.source !== 'database') this.#outside = head;
    }
    if (from < inBlocks.length) extendTo(inBlocks.length);
    this.#count = upTo;
  }

  /** The log ended within the block, or before it. */
  async #closeLast(block: Block, isWhole: boolean, chained: number): Promise<void> {
    const events = this.#seen.length;
    const lastHash = block.hashes.subarray(-HASH_BYTES);
    const isThere = this.#seen.some(({ hash }) => hash.equals(lastHash));
    if (isThere) return this.#closeBlock(block);
    if (events > 0) {
      const part = {
        ...block,
        events,
        count: block.count - block.events + events,
        hashes: block.hashes.subarray(0, events * HASH_BYTES),
      };
      const last = this.#seen.at(-1)?.position ?? block.lastPosition;
      const differences = compareBlock({ ...part, lastPosition: last }, this.#seen);
      this.#tracks.differ(differences, block.count);
      await this.#advance(
        part.count,
        this.#seen.map(({ hash }) => hash),
      );
    }
    if (isWhole) this.#findings.add({ kind: 'chain_ahead', count: chained, events: this.#events });
  }

  /** Reports heads that cover more events than the log has. */
  async #findCut(): Promise<void> {
    const events = this.#events;
    for (const { says, source } of await this.#heads.last())
      this.#findings.add({ kind: 'log_cut', count: says.count, events, source });
  }

  async #nextBlock(): Promise<void> {
    if (this.#page.length === 0) {
      const { done, value } = await this.#blocks.next();
      this.#page = done ? [] : [...value];
    }
    this.#block = this.#page.shift();
  }
}
