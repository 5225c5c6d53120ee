import { END } from '@eventstore/db-client';
import type { OpenedLog } from '#shared/authentic-events/authentic-events.ts';
import { isEventOf } from './neighbours.ts';
import { readOwn } from './own-page.ts';
import { ask, type Reader } from './read.ts';
import { hasMac, type StoredEvent } from './record.ts';

/** So many of the newest records are looked at: an upgrade that is over is followed by some, or is long ago. */
const RECORDS_MAX = 10_000;

/** Which of the newest events of a log have MACs. */
export const macsIn = (reader: Reader): Pick<OpenedLog, 'hasMacs' | 'hasBareWithin'> => ({
  hasMacs: async () => (await newest(reader, (record) => hasMac(record.metadata))) !== undefined,
  hasBareWithin: async (ms) => {
    const bare = await newest(reader, (record) => !hasMac(record.metadata));
    return bare !== undefined && reader.clock.nowMs() <= bare.created.getTime() + ms;
  },
});

const newest = (
  reader: Reader,
  isSought: (record: StoredEvent) => boolean,
): Promise<StoredEvent | undefined> =>
  ask(reader, 'a look at the newest events', async () => {
    let found: StoredEvent | undefined;
    await readOwn(reader, {
      ...{ from: END, countMax: RECORDS_MAX },
      onRecord(record) {
        if (isEventOf(reader, record) && isSought(record)) found = record;
        return found === undefined;
      },
    });
    return found;
  });
