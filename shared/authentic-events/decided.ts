import { hash } from 'node:crypto';

/** An accepted event counts like any other; the chain may already cover it as a record of somebody else. */
export const DECISIONS = ['accepted', 'accepted, chained as foreign', 'rejected'] as const;
export type Decision = (typeof DECISIONS)[number];

/** A decision of an operator about any number of events, which the hash over their digests names. */
export type Batch = {
  /** The number of the statement with which it was decided. */
  readonly n: number;
  readonly is: Decision;
  readonly count: number;
  readonly sha256: string;
};

const DIGEST_BYTES = 32;

/** The digests of events, each of which names an event at its place with its content, in order. */
export const sortedDigests = (digests: readonly string[]): Buffer =>
  Buffer.from([...new Set(digests)].toSorted().join(''), 'hex');

export const batchOf = (digests: Buffer, { n, is }: Pick<Batch, 'n' | 'is'>): Batch => ({
  ...{ n, is },
  count: digests.length / DIGEST_BYTES,
  sha256: hash('sha256', digests),
});

export const isContentOf = (digests: Buffer, { count, sha256 }: Batch): boolean =>
  digests.length === count * DIGEST_BYTES && hash('sha256', digests) === sha256;

/** The decisions of a statement in the form of a former release, which had the digests in itself. */
export const batchesOfFormer = (former: readonly Former[], n: number): readonly Batch[] =>
  [...Map.groupBy(former, ({ is }) => is)].map(([is, named]) => {
    const digests = sortedDigests(named.map(({ digest }) => digest));
    const batch = batchOf(digests, { n, is });
    carried.set(batch, digests);
    return batch;
  });

export type Former = { readonly digest: string; readonly is: Decision };

const carried = new WeakMap<Batch, Buffer>();

/** The content of such a batch. */
export const carriedIn = (batch: Batch): Buffer | undefined => carried.get(batch);

/** All of two statements. The first one about an event counts: that of the highest number, or else a rejection. */
export const unitedBatches = (one: readonly Batch[], other: readonly Batch[]): readonly Batch[] => {
  const all = new Map([...one, ...other].map((batch) => [nameOf(batch), batch]));
  return [...all.values()].toSorted((a, b) => b.n - a.n || (nameOf(a) < nameOf(b) ? 1 : -1));
};

const nameOf = ({ n, is, sha256 }: Batch): string => `${n} ${is} ${sha256}`;

/** The decisions of operators, with the events that they are about. */
export class Decided {
  readonly batches: readonly Batch[];
  readonly #contents: ReadonlyMap<string, Buffer>;

  constructor(batches: readonly Batch[], contents: ReadonlyMap<string, Buffer>) {
    this.batches = batches;
    this.#contents = contents;
  }

  /** Undefined if nobody has said which events they are. */
  contentOf({ sha256 }: Batch): Buffer | undefined {
    return this.#contents.get(sha256);
  }

  /**
   * Undefined if nobody has decided about the event with this digest, or if it was accepted and it is unknown whether
   * a rejection that counts before that is about it.
   */
  about(digest: string): Decision | undefined {
    if (this.batches.length === 0) return undefined;
    const sought = Buffer.from(digest, 'hex');
    let mayBeRejected = false;
    for (const batch of this.batches) {
      const content = this.contentOf(batch);
      if (isAmong(content, sought)) return mayBeRejected && batch.is !== 'rejected' ? undefined : batch.is;
      mayBeRejected ||= content === undefined && batch.is === 'rejected';
    }
    return undefined;
  }
}

export const NOTHING_DECIDED = new Decided([], new Map());

/** A binary search: a batch may have a hundred thousand. */
const isAmong = (digests: Buffer | undefined, sought: Buffer): boolean => {
  let [from, to] = [0, (digests?.length ?? 0) / DIGEST_BYTES];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    const begin = middle * DIGEST_BYTES;
    const order = sought.compare(digests as Buffer, begin, begin + DIGEST_BYTES);
    if (order === 0) return true;
    if (order < 0) to = middle;
    else from = middle + 1;
  }
  return false;
};
