import type { Position } from '#kernel/base/brands.ts';
import type { Block } from '../stored/blocks.ts';
import { HASH_BYTES } from '../stored/chain.ts';
import type { ChainFinding, FoundEvent } from './findings.ts';

/** An event found in the log, with its hash. */
export type SeenEvent = FoundEvent & { readonly hash: Buffer; readonly at: Date | null };

type EventFinding = Extract<ChainFinding, { kind: `event_${string}` }>;

/** A finding, with the hash by which the same event may be found in another block. */
export type Difference = { readonly finding: EventFinding; readonly hash: string };

/** Compares the events of the log at the place of a block with its hashes. Empty if they are equal. */
export const compareBlock = (block: Block, seen: readonly SeenEvent[]): readonly Difference[] => {
  if (block.hashes.equals(Buffer.concat(seen.map(({ hash }) => hash)))) return [];
  const first = block.count - block.events + 1;
  const expected = hashesIn(block);
  const found = new Set(seen.map(({ hash }) => hash.toString('hex')));
  const missing = new Set(expected.keys().filter((index) => !found.has(expected[index] ?? '')));
  const indexByHash = new Map(expected.map((hash, index) => [hash, index]));
  const differences: Difference[] = [];
  let furthest = -1;
  for (const [index, event] of seen.entries()) {
    const hash = event.hash.toString('hex');
    const expectedIndex = indexByHash.get(hash);
    if (expectedIndex === undefined) {
      // If an event is missing at the same place, this one counts as its changed form.
      const instead = insteadOf(block, seen.length, event.position, index);
      const kind = missing.delete(instead) ? 'event_changed' : 'event_inserted';
      differences.push({ hash, finding: { kind, count: first + index, ...shown(event) } });
    } else if (expectedIndex < furthest) {
      differences.push({ hash, finding: { kind: 'event_moved', count: first + index, ...shown(event) } });
    } else furthest = expectedIndex;
  }
  for (const index of missing) {
    const position = isDense(block) ? ((block.firstPosition + index) as Position) : null;
    differences.push({
      hash: expected[index] ?? '',
      finding: { kind: 'event_missing', count: first + index, position },
    });
  }
  return differences;
};

/**
 * If positions are dense, the position identifies the original event; otherwise the order does, if the number
 * of events is equal.
 */
const insteadOf = (block: Block, seen: number, position: Position, index: number): number => {
  if (isDense(block)) return position - block.firstPosition;
  return seen === block.events ? index : -1;
};

const isDense = ({ firstPosition, lastPosition, events }: Block): boolean =>
  lastPosition - firstPosition + 1 === events;

const hashesIn = ({ hashes, events }: Block): readonly string[] =>
  Array.from({ length: events }, (_, index) =>
    hashes.toString('hex', index * HASH_BYTES, (index + 1) * HASH_BYTES),
  );

const shown = ({ position, stream, version }: SeenEvent): FoundEvent => ({ position, stream, version });
