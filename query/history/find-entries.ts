import type { Change } from '#shared/change-stream/change-stream.ts';
import type { ChangeReader } from '#shared/change-stream/changes.ts';
import type { Caller } from '#shared/policy.ts';
import { maySee } from '#shared/visibility/may-see.ts';
import { readVersions, type StreamSource } from './versions.ts';

/** A part of a history: the versions below one or above one, nearest first. */
export type Stretch = {
  readonly below: number;
  readonly above: number;
  readonly isUpward: boolean;
  readonly limit: number;
};

type FoundEntries = {
  /** In the order of the log. */
  readonly changes: readonly Change[];
  /** True if there are more in the same direction. */
  readonly hasMore: boolean;
  /** The version examined last. */
  readonly lookedAt: number;
};

/**
 * The maximum examined for one page. Callers who may see few of them get a shorter page, and resume after it.
 */
const LOOKED_AT_MAX = 1_000;
/** The minimum read at once. */
const AT_ONCE_MIN = 50;

type Search = { readonly source: StreamSource; readonly reader: ChangeReader; readonly caller: Caller };

/** Finds the entries that a caller may see, without their contents. */
export const findEntries = async (
  { source, reader, caller }: Search,
  { below, above, isUpward, limit }: Stretch,
): Promise<FoundEntries> => {
  const found: Change[] = [];
  const atOnce = Math.max(AT_ONCE_MIN, limit + 1);
  let lookedAt = 0;
  let edge = isUpward ? above : below;
  while (found.length <= limit && lookedAt < LOOKED_AT_MAX) {
    const [from, to] = isUpward
      ? [edge + 1, Math.min(edge + atOnce, below - 1)]
      : [Math.max(edge - atOnce, above + 1), edge - 1];
    if (from > to) return { changes: inOrder(found), hasMore: false, lookedAt: edge };
    const known: Change[] = [];
    for await (const events of readVersions(source, from, to)) {
      const { changes } = await reader.ofStream(events, source.eventLog);
      known.push(...changes.filter((change) => maySee(caller, change)).map(withoutData));
    }
    found.push(...(isUpward ? known : known.toReversed()));
    lookedAt += to - from + 1;
    edge = isUpward ? to : from;
  }
  const isEnd = isUpward ? edge >= below - 1 : edge <= above + 1;
  return { changes: inOrder(found.slice(0, limit)), hasMore: found.length > limit || !isEnd, lookedAt: edge };
};

const withoutData = (change: Change): Change => ({ ...change, data: {} });

const inOrder = (changes: readonly Change[]): readonly Change[] =>
  changes.toSorted((one, other) => one.version - other.version);
