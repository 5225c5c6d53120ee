import { extend, GENESIS } from '../stored/chain.ts';
import type { Difference, SeenEvent } from './compare-block.ts';
import type { Findings } from './findings.ts';
import type { SourcedHead } from './head-sources.ts';

/** A difference between log and block that is not attributed to either yet. */
type Pending = { readonly difference: Difference; readonly block: number };

/** The number of differences among which moved events are searched. */
const BLAMED_MAX = 10_000;

/**
 * The heads computed from the log and from the blocks, both from the last signed head on. If log and blocks
 * differ, the next signed head shows which of them was changed; if it matches neither, both were changed
 * since the previous one.
 */
export class Tracks {
  readonly #findings: Findings;
  #pending: Pending[] = [];
  #blamed: Difference[] = [];
  /** Keyed by hash. */
  readonly #missing = new Set<string>();
  byLog: Buffer = GENESIS;
  byBlocks: Buffer = GENESIS;

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  /** Extends both heads, by equal hashes or by differing ones. */
  extend(inLog: readonly Uint8Array[], inBlocks: readonly Uint8Array[]): void {
    const areSame = this.byLog.equals(this.byBlocks) && inLog === inBlocks;
    this.byBlocks = inBlocks.reduce<Buffer>(extend, this.byBlocks);
    this.byLog = areSame ? this.byBlocks : inLog.reduce<Buffer>(extend, this.byLog);
  }

  differ(differences: readonly Difference[], block: number): void {
    this.#pending.push(...differences.map((difference) => ({ difference, block })));
  }

  /** Attributes pending differences by a signed head that both tracks have reached. */
  judge({ says, source }: SourcedHead): void {
    const signed = Buffer.from(says.head, 'hex');
    const [isByLog, isByBlocks] = [this.byLog.equals(signed), this.byBlocks.equals(signed)];
    if (isByLog && !isByBlocks) this.#blameBlocks();
    else this.#blameLog();
    if (!isByLog && !isByBlocks) this.#findings.add({ kind: 'head_changed', count: says.count, source });
    this.byLog = signed;
    this.byBlocks = signed;
  }

  #blameBlocks(): void {
    for (const count of new Set(this.#pending.map(({ block }) => block)))
      this.#findings.add({ kind: 'block_changed', count });
    this.#pending = [];
  }

  /** Without a signature to the contrary, the log counts as changed. */
  #blameLog(): void {
    for (const { difference } of this.#pending) this.#blame(difference);
    this.#pending = [];
  }

  #blame(difference: Difference): void {
    if (this.#blamed.length < BLAMED_MAX) this.#blamed.push(difference);
    else this.#findings.add(difference.finding);
    if (difference.finding.kind === 'event_missing') this.#missing.add(difference.hash);
  }

  /** An event beyond the chain may be one that is missing elsewhere. */
  meetAgain({ hash, position, stream, version }: SeenEvent, count: number): void {
    if (this.#missing.size === 0) return;
    const text = hash.toString('hex');
    if (this.#missing.has(text))
      this.#blame({ hash: text, finding: { kind: 'event_inserted', count, position, stream, version } });
  }

  /**
   * Reports the remaining differences. An event that is missing at one place and found at another was moved.
   */
  end(): void {
    this.#blameLog();
    const inserted = new Set(
      this.#blamed.flatMap(({ finding, hash }) => (finding.kind === 'event_inserted' ? [hash] : [])),
    );
    for (const { finding, hash } of this.#blamed) {
      if (finding.kind === 'event_missing' && inserted.has(hash)) continue;
      this.#findings.add(
        finding.kind === 'event_inserted' && this.#missing.has(hash)
          ? { ...finding, kind: 'event_moved' }
          : finding,
      );
    }
    this.#blamed = [];
  }
}
