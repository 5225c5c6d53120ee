import { END } from '@eventstore/db-client';
import type { StreamName, Version } from '#shared/brands.ts';
import { type Appended, NO_STREAM } from '../event-log.ts';
import { PassingFailure, WrongVersion } from './failures.ts';
import { versionAt } from './places.ts';
import { type Reader, readPage, readPageBack } from './read.ts';
import { positionOf, type StoredEvent } from './record.ts';

/** An append that may have been stored already; it is known by the ids of its events. */
type Sought = { readonly stream: StreamName; readonly events: readonly { readonly id: string }[] };

const PAGES_BACK_MAX = 1_000;

/** The append, if exactly its events stand from this revision on. */
export const findEarlier = async (reader: Reader, { stream, events: sought }: Sought, from: bigint): Promise<Appended | undefined> => {
  const standing: StoredEvent[] = [];
  while (standing.length < sought.length) {
    const { events, isCut } = await readPage(reader, stream, {
      from: from + BigInt(standing.length),
      countMax: sought.length - standing.length,
    });
    standing.push(...events);
    if (!isCut) break;
  }
  const last = standing.at(-1);
  if (!last || sought.some(({ id }, index) => standing[index]?.id !== id)) return undefined;
  return { version: versionAt(last.revision), position: positionOf(last) };
};

/** The append, wherever in the stream it stands, and the version at which the stream ends. */
export const findEarlierFromEnd = async (reader: Reader, sought: Sought): Promise<{ earlier?: Appended; version: Version }> => {
  const ids = new Set(sought.events.map(({ id }) => id));
  let version: Version = NO_STREAM;
  let from: bigint | typeof END = END;
  for (let pages = 0; pages < PAGES_BACK_MAX; pages += 1) {
    const { events } = await readPageBack(reader, sought.stream, from);
    const [newest] = events;
    const oldest = events.at(-1);
    if (!newest || !oldest) return { version };
    if (from === END) version = versionAt(newest.revision);
    const known = events.find(({ id }) => ids.has(id));
    if (known) return { version, earlier: await earlierEndingWith(reader, sought, known) };
    if (oldest.revision === 0n) return { version };
    from = oldest.revision - 1n;
  }
  throw new PassingFailure(`${sought.stream} is too long to look up an append of which nothing is known but that it may be there`);
};

/** The newest known event is the append's last, unless the append holds known events and new ones, which no expectation allows. */
const earlierEndingWith = async (reader: Reader, sought: Sought, known: StoredEvent): Promise<Appended> => {
  const first = known.revision - BigInt(sought.events.length - 1);
  const earlier = first < 0n ? undefined : await findEarlier(reader, sought, first);
  if (!earlier) throw new WrongVersion(`${sought.stream} holds some of the events, but not all`);
  return earlier;
};
