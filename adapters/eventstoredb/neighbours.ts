import type { Position } from '#kernel/base/brands.ts';
import { START } from '#shared/event-log/event-log.ts';
import { NO_PREFIX, prefixOf, type StreamPrefix } from './own-streams.ts';
import { IDENTITY_STREAM, isOfSystem, positionOf, type StoredEvent } from './record.ts';

/**
 * Tells a log without a prefix, which takes every other stream for its own, what is of a log with one. Such a
 * log begins with its identity, so its records are those that come after that, whoever reads them and when.
 * The name of a stream alone does not tell: earlier releases have chained those of others that only look so.
 */
export class Neighbours {
  readonly #find: (prefix: StreamPrefix) => Promise<Position | undefined>;
  readonly #begins = new Map<StreamPrefix, Position>();
  readonly #absentUpTo = new Map<StreamPrefix, Position>();

  /** `find` returns where the log with a prefix begins, if there is one. */
  constructor(find: (prefix: StreamPrefix) => Promise<Position | undefined>) {
    this.#find = find;
  }

  /**
   * Whether a record is of another log; undefined if that must be looked up. A reader that has seen every
   * record after a position says so: it has seen where logs begin since then.
   */
  has(stored: StoredEvent, seenSince = positionOf(stored)): boolean | undefined {
    const prefix = prefixOf(stored.streamId);
    if (prefix === NO_PREFIX) return false;
    const position = positionOf(stored);
    if (stored.streamId === `${prefix}${IDENTITY_STREAM}` && !this.#begins.has(prefix))
      this.#begins.set(prefix, position);
    const begin = this.#begins.get(prefix);
    if (begin !== undefined) return position >= begin;
    const absentUpTo = this.#absentUpTo.get(prefix);
    if (absentUpTo === undefined || absentUpTo < seenSince) return undefined;
    this.#absentUpTo.set(prefix, position > absentUpTo ? position : absentUpTo);
    return false;
  }

  async lookUp(stored: StoredEvent): Promise<void> {
    const prefix = prefixOf(stored.streamId);
    const begin = await this.#find(prefix);
    if (begin !== undefined) this.#begins.set(prefix, begin);
    else if ((this.#absentUpTo.get(prefix) ?? START) < positionOf(stored))
      this.#absentUpTo.set(prefix, positionOf(stored));
  }
}

type Telling = { readonly prefix: StreamPrefix; readonly neighbours: Neighbours };

/** Whether a record of any stream is an event of a log; undefined if that must be looked up. */
export const isEventOf = (
  { prefix, neighbours }: Telling,
  stored: StoredEvent,
  seenSince?: Position,
): boolean | undefined => {
  if (isOfSystem(stored, prefix)) return false;
  if (prefix !== NO_PREFIX) return stored.streamId.startsWith(prefix);
  const isOfNeighbour = neighbours.has(stored, seenSince);
  return isOfNeighbour === undefined ? undefined : !isOfNeighbour;
};
