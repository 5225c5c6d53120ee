import { END } from '@eventstore/db-client';
import type { StreamName, Version } from '#kernel/base/brands.ts';
import { askAgain } from '#shared/event-log/ask-again.ts';
import { NO_STREAM } from '#shared/event-log/event-log.ts';
import type { Stored } from './append-client.ts';
import { PassingFailure, WrongVersion } from './failures.ts';
import { type Reader, readPage, readPageBack } from './read.ts';
import { positionOf, type StoredEvent } from './record.ts';
import { LATE_MS } from './retry.ts';
import { versionAt } from './server-positions.ts';

/** An append that may have been stored already; the ids of its events identify it. */
type Sought = { readonly stream: StreamName; readonly events: readonly { readonly id: string }[] };

const PAGES_BACK_MAX = 1_000;

/** Returns the append if exactly its events begin at this revision. */
export const findEarlier = async (
  reader: Reader,
  sought: Sought,
  from: bigint,
): Promise<Stored | undefined> => earlierAmong(await eventsFrom(reader, sought, from), sought);

type Refused = { readonly from: bigint; readonly refusal: unknown };

/** The same for a refused append: the server that reports the version may show the events a little later. */
export const findEarlierRefused = async (
  reader: Reader,
  sought: Sought,
  { from, refusal }: Refused,
): Promise<Stored | undefined> => {
  const last = lastRevisionIn(refusal);
  const late = last !== undefined && last >= from ? { ms: LATE_MS, clock: reader.clock } : undefined;
  const look = () => eventsFrom(reader, sought, from);
  return earlierAmong(await askAgain(look, late, ({ length }) => length > 0), sought);
};

const lastRevisionIn = (refusal: unknown): bigint | undefined =>
  refusal instanceof Error && 'actualVersion' in refusal && typeof refusal.actualVersion === 'bigint'
    ? refusal.actualVersion
    : undefined;

const eventsFrom = async (
  reader: Reader,
  { stream, events: { length } }: Sought,
  from: bigint,
): Promise<readonly StoredEvent[]> => {
  const standing: StoredEvent[] = [];
  while (standing.length < length) {
    const { events, isCut } = await readPage(reader, stream, {
      from: from + BigInt(standing.length),
      countMax: length - standing.length,
    });
    standing.push(...events);
    if (!isCut) break;
  }
  return standing;
};

const earlierAmong = (standing: readonly StoredEvent[], { events }: Sought): Stored | undefined => {
  const last = standing.at(-1);
  if (!last || events.some(({ id }, index) => standing[index]?.id !== id)) return undefined;
  return { version: versionAt(last.revision), position: positionOf(last), server: Symbol('not known') };
};

/** The append, wherever in the stream it is, and the version at which the stream ends. */
export const findEarlierFromEnd = async (
  reader: Reader,
  sought: Sought,
): Promise<{ earlier?: Stored; version: Version }> => {
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
  throw new PassingFailure(`${sought.stream} is too long to search for an append whose version is unknown`);
};

/**
 * The newest known event is the append’s last, unless the append mixes known events and new ones, which no
 * expectation allows.
 */
const earlierEndingWith = async (reader: Reader, sought: Sought, known: StoredEvent): Promise<Stored> => {
  const first = known.revision - BigInt(sought.events.length - 1);
  const earlier = first < 0n ? undefined : await findEarlier(reader, sought, first);
  if (!earlier) throw new WrongVersion(`${sought.stream} holds some of the events, but not all`);
  return earlier;
};
