import type { Position } from '#kernel/base/brands.ts';
import type { EventLog, RecordedEvent } from './event-log.ts';

type Range = {
  readonly after: Position;
  readonly upTo: Position;
  /** The events of the first page, if few may suffice; the pages grow. Without it, all have the usual size. */
  readonly first?: number;
};

/** The events after one position up to another that the log has reached; ends early if the signal aborts. */
export async function* readBetween(
  eventLog: Pick<EventLog, 'follow' | 'page'>,
  { after, upTo, first }: Range,
  signal?: AbortSignal,
): AsyncGenerator<readonly RecordedEvent[]> {
  if (after >= upTo) return;
  if (first !== undefined && eventLog.page !== undefined)
    return yield* readGrowing(eventLog.page, { after, upTo, first }, signal);
  const leaving = new AbortController();
  const ended = signal === undefined ? leaving.signal : AbortSignal.any([leaving.signal, signal]);
  try {
    for await (const events of eventLog.follow(after, ended)) {
      const last = events.at(-1)?.position ?? after;
      yield* partUpTo(upTo, events);
      if (last >= upTo) return;
    }
  } finally {
    leaving.abort();
  }
}

/** Never an empty one: positions of an engine may have gaps, and the next event is then after the end. */
function* partUpTo(upTo: Position, events: readonly RecordedEvent[]): Generator<readonly RecordedEvent[]> {
  const part =
    (events.at(-1)?.position ?? upTo) <= upTo ? events : events.filter(({ position }) => position <= upTo);
  if (part.length > 0) yield part;
}

const GROWTH = 4;
const PAGE_EVENTS_MAX = 1_000;

async function* readGrowing(
  page: NonNullable<EventLog['page']>,
  { after, upTo, first }: Required<Range>,
  signal?: AbortSignal,
): AsyncGenerator<readonly RecordedEvent[]> {
  let last = after;
  for (let max = first; last < upTo && signal?.aborted !== true; max *= GROWTH) {
    const events = await page(last, Math.min(max, PAGE_EVENTS_MAX, upTo - last));
    // Positions of an engine may have gaps at the end.
    if (events.length === 0) return;
    yield* partUpTo(upTo, events);
    last = events.at(-1)?.position ?? upTo;
  }
}
