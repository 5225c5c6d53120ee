import type { Position } from '#kernel/base/brands.ts';
import type { EventLog, RecordedEvent } from './event-log.ts';

type Range = { readonly after: Position; readonly upTo: Position };

/** The events after one position up to another that the log has reached; ends early if the signal aborts. */
export async function* readBetween(
  eventLog: Pick<EventLog, 'follow'>,
  { after, upTo }: Range,
  signal?: AbortSignal,
): AsyncGenerator<readonly RecordedEvent[]> {
  if (after >= upTo) return;
  const leaving = new AbortController();
  const ended = signal === undefined ? leaving.signal : AbortSignal.any([leaving.signal, signal]);
  try {
    for await (const events of eventLog.follow(after, ended)) {
      const last = events.at(-1)?.position ?? after;
      yield last <= upTo ? events : events.filter(({ position }) => position <= upTo);
      if (last >= upTo) return;
    }
  } finally {
    leaving.abort();
  }
}
