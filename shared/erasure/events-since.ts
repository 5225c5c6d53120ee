import type { UserId } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';

type Ends = { readonly first: RecordedEvent | undefined; readonly deletion: RecordedEvent | undefined };

/** The first event of a user, and that of their deletion. */
export const readEnds = async (eventLog: Pick<EventLog, 'read'>, userId: UserId): Promise<Ends> => {
  let first: RecordedEvent | undefined;
  let deletion: RecordedEvent | undefined;
  for await (const page of eventLog.read(streamName('user', userId))) {
    first ??= page[0];
    deletion ??= page.find(({ type }) => type === 'user.deleted');
  }
  return { first, deletion };
};

/**
 * All events from one on, up to the present end of the log, in pages; nothing without a first one. Reports on
 * erasures and exports of a person look at the same events.
 */
export async function* eventsSince(
  eventLog: Pick<EventLog, 'follow' | 'head'>,
  first: RecordedEvent | undefined,
  signal: AbortSignal,
): AsyncGenerator<readonly RecordedEvent[]> {
  if (first === undefined) return;
  yield [first];
  const head = await eventLog.head();
  // A log is followed after one of its events: some engines know no position between two of them.
  if (first.position >= head) return;
  for await (const page of eventLog.follow(first.position, signal)) {
    yield page;
    if ((page.at(-1)?.position ?? head) >= head) return;
  }
  signal.throwIfAborted();
}
