import { extend, GENESIS } from '#shared/audit/chain.ts';
import type { Difference, SeenEvent } from './compare-block.ts';
import type { Findings } from './findings.ts';
import type { SourcedHead } from './head-sources.ts';

/** A difference between log and block, of which it is not known yet which of the two was changed. */
type Pending = { readonly difference: Difference; readonly block: number };

/** Of so many it is looked for whether they were moved. */
const BLAMED_MAX = 10_000;

/**
 * The head that the log gives, and the head that the blocks give, both from the last signed head on. Where
 * log and blocks differ, the next signed head tells which of them was changed; where it agrees with neither,
 * both were, between it and the one before.
 */
export class Tracks {
  readonly #findings: Findings;
  #pending: Pending[] = [];
  #blamed: Difference[] = [];
  /** By their hashes. */
  readonly #missing = new Set<string>();
  byLog: Buffer = GENESIS;
  byBlocks: Buffer = GENESIS;

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  /** What both have alike, or what they have instead of each other. */
  extend(inLog: readonly Uint8Array[], inBlocks: readonly Uint8Array[]): void {
    const areSame = this.byLog.equals(this.byBlocks) && inLog === inBlocks;
    this.byBlocks = inBlocks.reduce<Buffer>(extend, this.byBlocks);
    this.byLog = areSame ? this.byBlocks : inLog.reduce<Buffer>(extend, this.byLog);
  }

  differ(differences: readonly Difference[], block: number): void {
    this.#pending.push(...differences.map((difference) => ({ difference, block })));
  }

  /** Answers whether one of the two says the same. */
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

  /** What nobody has signed differently is taken for a change of the log. */
  #blameLog(): void {
    for (const { difference } of this.#pending) this.#blame(difference);
    this.#pending = [];
  }

  #blame(difference: Difference): void {
    if (this.#blamed.length < BLAMED_MAX) this.#blamed.push(difference);
    else this.#findings.add(difference.finding);
    if (difference.finding.kind === 'event_missing') this.#missing.add(difference.hash);
  }

  /** An event that the chain does not have yet may be one that it has elsewhere. */
  meetAgain({ hash, position, stream, version }: SeenEvent, count: number): void {
    if (this.#missing.size === 0) return;
    const text = hash.toString('hex');
    if (this.#missing.has(text))
      this.#blame({ hash: text, finding: { kind: 'event_inserted', count, position, stream, version } });
  }

  /** Tells what is left. What is missing in one place and found in another was moved. */
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
