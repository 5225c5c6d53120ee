import type { Position } from '#kernel/base/brands.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { timeOf } from '#shared/event-log/time-of.ts';
import { compareBlock } from '../chain/compare-block.ts';
import type { Block } from '../stored/blocks.ts';
import { hashOf } from '../stored/canonical.ts';
import { extendByAll, HASH_BYTES } from '../stored/chain.ts';
import { readStatement, type StoredHead } from '../stored/signed-head.ts';
import { type AuditKey, isSignedBy } from '../stored/signing-keys.ts';
import type { Difference } from '../stored/watch.ts';

/** Consecutive blocks, with all events and heads in their range. */
type Stretch = {
  /** The count before the first of them. */
  readonly count: number;
  readonly head: Buffer;
  readonly blocks: readonly Block[];
  readonly events: readonly RecordedEvent[];
  readonly heads: readonly StoredHead[];
  readonly keys: readonly AuditKey[];
};

/** Compares log, blocks and signed heads. */
export const checkStretch = ({
  count,
  head,
  blocks,
  events,
  heads,
  keys,
}: Stretch): readonly Difference[] => {
  const differences: Difference[] = [];
  let [before, at, next] = [head, count, 0];
  for (const block of blocks) {
    const from = next;
    while (next < events.length && (events[next]?.position ?? 0) <= block.lastPosition) next += 1;
    const seen = events
      .slice(from, next)
      .map((event) => ({ ...event, hash: hashOf(event), at: timeOf(event) }));
    differences.push(...compareBlock(block, seen).map(({ finding }) => differenceOf(finding)));
    const isNext = block.count - block.events === at;
    if (!isNext || !extendByAll(before, block.hashes).equals(block.head))
      differences.push(placed('block_changed', block.lastPosition));
    const covered = heads.filter(
      (each) => each.count > block.count - block.events && each.count <= block.count,
    );
    for (const signed of covered)
      if (!isRight(signed, { block, before, keys }))
        differences.push(placed('head_changed', block.lastPosition));
    [before, at] = [block.head, block.count];
  }
  return differences;
};

type Found = ReturnType<typeof compareBlock>[number]['finding'];

const differenceOf = (finding: Found): Difference => ({
  kind: finding.kind,
  position: finding.position,
  stream: 'stream' in finding ? finding.stream : null,
  version: 'version' in finding ? finding.version : null,
  fields: [],
});

const placed = (kind: string, position: Position): Difference => ({
  kind,
  position,
  stream: null,
  version: null,
  fields: [],
});

type Expected = { readonly block: Block; readonly before: Buffer; readonly keys: readonly AuditKey[] };

const isRight = ({ count, statement, signature }: StoredHead, { block, before, keys }: Expected): boolean => {
  const says = readStatement(statement);
  const inBlock = block.hashes.subarray(0, (count - block.count + block.events) * HASH_BYTES);
  const key = keys.find(({ id }) => id === says.key);
  return (
    says.count === count &&
    says.head === extendByAll(before, inBlock).toString('hex') &&
    key !== undefined &&
    isSignedBy(key.publicKey, statement, signature)
  );
};
