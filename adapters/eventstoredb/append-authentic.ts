import { END } from '@eventstore/db-client';
import type { StreamName, Version } from '#kernel/base/brands.ts';
import type { AuthenticLog } from '#shared/authentic-events/authentic-log.ts';
import type { CheckedEvent } from '#shared/event-log/check-append.ts';
import { StaleVersion } from '#shared/event-log/errors.ts';
import { type ExpectedVersion, NO_STREAM } from '#shared/event-log/event-log.ts';
import type { Appender } from './append.ts';
import type { Stored } from './append-client.ts';
import { findEarlier } from './earlier.ts';
import { ask, type Reader, readPageBack } from './read.ts';
import { withMac } from './record.ts';
import { versionAt } from './server-positions.ts';

type Proposed = {
  readonly stream: StreamName;
  readonly expected: ExpectedVersion;
  readonly events: readonly CheckedEvent[];
};

type Appending = { readonly reader: Reader; readonly appender: Pick<Appender, 'append'> };

/** Each fails only if another process has appended to the stream in between. */
const ATTEMPTS_MAX = 50;

/** Appends events with their MACs, if the log has any. */
export const createAppendAuthentic = (appending: Appending): ((proposed: Proposed) => Promise<Stored>) => {
  const { reader, appender } = appending;
  const { authentic } = reader;
  if (authentic === undefined) return (proposed) => appender.append(proposed);
  const last = new Map<StreamName, Promise<unknown>>();
  return async (proposed) => {
    const { stream, expected } = proposed;
    await authentic.beforeAppend();
    if (expected !== 'any')
      return appender.append({ stream, expected, events: withMacs(authentic, proposed, expected) });
    // One after the other, because each but one of several at once would fail.
    const appended = (last.get(stream) ?? Promise.resolve()).then(() =>
      appendAny(appending, authentic, proposed),
    );
    const settled = appended.then(ignore, ignore).then(() => {
      if (last.get(stream) === settled) last.delete(stream);
    });
    last.set(stream, settled);
    return appended;
  };
};

const ignore = (): void => {};

/** A MAC covers the version, so an append that expects any version expects the present one. */
const appendAny = async (
  { reader, appender }: Appending,
  authentic: AuthenticLog,
  proposed: Proposed,
): Promise<Stored> => {
  const { stream } = proposed;
  for (let attempt = 1; ; attempt += 1) {
    const { version, earlier } = await findEnd(reader, proposed);
    if (earlier) return earlier;
    try {
      const events = withMacs(authentic, proposed, version);
      return await appender.append({ stream, expected: version, events });
    } catch (error) {
      if (!(error instanceof StaleVersion)) throw error;
      if (attempt === ATTEMPTS_MAX) throw new StaleVersion(stream, 'any', { cause: error });
    }
  }
};

const withMacs = (
  authentic: AuthenticLog,
  { stream, events }: Proposed,
  before: Version,
): readonly CheckedEvent[] =>
  events.map((event, index) => {
    const mac = authentic.macOf({ ...event, stream, version: (before + index + 1) as Version });
    if (mac === undefined) return event;
    const metadata = withMac(event.metadata, mac);
    const more = metadata.length - event.metadata.length;
    return {
      ...event,
      metadata,
      metadataBytes: event.metadataBytes + more,
      bytes: event.bytes + more,
    };
  });

/** The server recognizes the repetition of an append without an exact version by about as many events. */
const LOOKED_BACK = 100;

/** The version of a stream, or the same append if it is among its newest events. */
const findEnd = async (
  reader: Reader,
  { stream, events }: Proposed,
): Promise<{ readonly version: Version; readonly earlier?: Stored | undefined }> => {
  const page = await ask(reader, `a look at the end of ${stream}`, () =>
    readPageBack(reader, stream, END, LOOKED_BACK),
  );
  const [newest] = page.events;
  if (!newest) return { version: NO_STREAM };
  const ids = new Set<string>(events.map(({ id }) => id));
  const known = page.events.findLast(({ id }) => ids.has(id));
  if (known === undefined) return { version: versionAt(newest.revision) };
  const earlier = await findEarlier(reader, { stream, events }, known.revision);
  if (earlier) return { version: versionAt(newest.revision), earlier };
  // The log has some of the events, but not all.
  throw new StaleVersion(stream, 'any');
};
