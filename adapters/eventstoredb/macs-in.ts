import { END } from '@eventstore/db-client';
import type { Position } from '#kernel/base/brands.ts';
import { hasOurFields } from '#kernel/base/events/metadata.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import type { OpenedLog } from '#shared/authentic-events/opened-log.ts';
import { START } from '#shared/event-log/event-log.ts';
import { readAfter } from './follow.ts';
import { isEventOf } from './neighbours.ts';
import { readOwn } from './own-page.ts';
import { ask, beginOf, PAGE_EVENTS_MAX, type Reader, readStreamPages } from './read.ts';
import { hasMac, positionOf, type StoredEvent } from './record.ts';

/** Most logs with MACs have one among these. */
const NEWEST = 1_000;
/** Enough for an hour of 250 records a second; of a busier log, the first look knows less than an hour. */
const LATE_MAX = 900_000;

/** Which events of a log have MACs. */
export const macsIn = (
  reader: Reader,
  head: OpenedLog['head'],
): Omit<OpenedLog, 'identity' | 'showsMacs' | 'head'> => {
  const look = new LookBack(LATE_MAX);
  return {
    hasMacs: async () => (await newestHasMac(reader)) || (await findMac(reader, await head())),
    hasBareWithin: (ms) =>
      ask(reader, 'a look at the events of the last hour', () =>
        look.hasBareSince(reader.clock.nowMs() - ms, (countMax, onRecord) =>
          readOwn(reader, {
            ...{ from: END, countMax },
            onRecord: (record) => onRecord(record, isEventOf(reader, record) === true),
          }),
        ),
      ),
    page: (after, authentic) => readAfter({ ...reader, authentic }, after),
    readAgain: ({ stream, version }, authentic) =>
      readStreamPages({ ...reader, authentic }, stream, { from: version, to: version }),
  };
};

const isWithMac = (reader: Reader, record: StoredEvent): boolean =>
  isEventOf(reader, record) === true && hasMac(record.metadata);

const newestHasMac = (reader: Reader): Promise<boolean> =>
  ask(reader, 'a look at the newest events', async () => {
    let isFound = false;
    await readOwn(reader, {
      ...{ from: END, countMax: NEWEST },
      onRecord(record) {
        isFound = isWithMac(reader, record);
        return !isFound;
      },
    });
    return isFound;
  });

/**
 * Reads the whole log if there is none: somebody could append any number of records after those with MACs. It ends at
 * a fixed position, however fast the log grows.
 */
const findMac = async (reader: Reader, upTo: Position): Promise<boolean> => {
  for (let from = beginOf(reader); from < upTo; ) {
    const page = await ask(reader, 'a search of events with MACs', async () => {
      let [last, isFound] = [from, false];
      await readOwn(reader, {
        ...{ from, countMax: PAGE_EVENTS_MAX },
        onRecord(record) {
          last = positionOf(record);
          isFound = isWithMac(reader, record);
          return !isFound && last < upTo;
        },
      });
      return { last, isFound };
    });
    if (page.isFound) return true;
    if (page.last === from) return false;
    from = page.last;
  }
  return false;
};

type Looked = Pick<StoredEvent, 'id' | 'created' | 'metadata' | 'position'>;
/** Passes records from the newest to older ones, until the function returns false. */
type ReadBack = (countMax: number, onRecord: (record: Looked, isEvent: boolean) => boolean) => Promise<void>;

/**
 * Since when each event of ours has a MAC. A look ends where the one before began, so that it ends in any log, and
 * knows an hour at the latest an hour after the first one.
 */
export class LookBack {
  readonly #countMax: number;
  #upTo: Position = START;
  #cleanSinceMs = Number.POSITIVE_INFINITY;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /** Whether an event of ours since a time lacks a MAC, or that is unknown. */
  async hasBareSince(sinceMs: number, readBack: ReadBack): Promise<boolean> {
    let newest: Position | undefined;
    let [count, lastMs, end] = [0, Number.NEGATIVE_INFINITY, 'of the log' as 'of the log' | 'known' | 'here'];
    await readBack(this.#countMax, ({ created, metadata, ...record }, isEvent) => {
      const position = positionOf(record as StoredEvent);
      newest ??= position;
      count += 1;
      if (position <= this.#upTo) end = 'known';
      else {
        lastMs = created.getTime();
        const isBare = isEvent && !hasMac(metadata) && isOurs(metadata);
        if (isBare || lastMs < sinceMs || count === this.#countMax) end = 'here';
      }
      return end === 'of the log';
    });
    if (end === 'here') this.#cleanSinceMs = lastMs;
    if (end === 'of the log') this.#cleanSinceMs = Number.NEGATIVE_INFINITY;
    this.#upTo = newest ?? this.#upTo;
    return this.#cleanSinceMs >= sinceMs;
  }
}

const isOurs = (metadata: unknown): boolean =>
  typeof metadata === 'object' && metadata !== null && hasOurFields(metadata as JsonObject);
