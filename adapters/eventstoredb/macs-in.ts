import { END } from '@eventstore/db-client';
import { hasOurFields } from '#kernel/base/events/metadata.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import type { OpenedLog } from '#shared/authentic-events/authentic-events.ts';
import { isEventOf } from './neighbours.ts';
import { readOwn } from './own-page.ts';
import { ask, type Reader, readStreamPages } from './read.ts';
import { hasMac, type StoredEvent } from './record.ts';

/** An upgrade that is over is followed by some records with MACs, or is long ago. */
const WITH_MACS_MAX = 10_000;
/** Enough for an hour of 250 records a second; a busier log is upgraded once it is quieter. */
const LATE_MAX = 900_000;

/** Which of the newest events of a log have MACs. */
export const macsIn = (reader: Reader): Omit<OpenedLog, 'identity' | 'showsMacs' | 'head'> => ({
  hasMacs: () =>
    ask(reader, 'a look at the newest events', async () => {
      let isFound = false;
      await readOwn(reader, {
        ...{ from: END, countMax: WITH_MACS_MAX },
        onRecord(record) {
          isFound = isEventOf(reader, record) === true && hasMac(record.metadata);
          return !isFound;
        },
      });
      return isFound;
    }),
  hasBareWithin: (ms) =>
    ask(reader, 'a look at the events of the last hour', async () => {
      const look = new LookBack({ sinceMs: reader.clock.nowMs() - ms, countMax: LATE_MAX });
      await readOwn(reader, {
        ...{ from: END, countMax: LATE_MAX },
        onRecord: (record) => look.add(record, isEventOf(reader, record) === true),
      });
      return look.mayHaveBare;
    }),
  readAgain: ({ stream, version }, authentic) =>
    readStreamPages({ ...reader, authentic }, stream, { from: version, to: version }),
});

type Looked = Pick<StoredEvent, 'created' | 'metadata'>;

/** Whether an event of ours since a time lacks a MAC, by the records back to it. */
export class LookBack {
  readonly #range: { readonly sinceMs: number; readonly countMax: number };
  #count = 0;
  #reaches = false;
  #hasBare = false;

  constructor(range: { readonly sinceMs: number; readonly countMax: number }) {
    this.#range = range;
  }

  /** Takes the next older record; returns whether a further one matters. */
  add({ created, metadata }: Looked, isEvent: boolean): boolean {
    this.#count += 1;
    this.#reaches = created.getTime() < this.#range.sinceMs;
    this.#hasBare = !this.#reaches && isEvent && !hasMac(metadata) && isOurs(metadata);
    return !this.#reaches && !this.#hasBare;
  }

  /** Also true if the records do not reach back to the time: then nobody knows. */
  get mayHaveBare(): boolean {
    return this.#hasBare || (!this.#reaches && this.#count >= this.#range.countMax);
  }
}

const isOurs = (metadata: unknown): boolean =>
  typeof metadata === 'object' && metadata !== null && hasOurFields(metadata as JsonObject);
