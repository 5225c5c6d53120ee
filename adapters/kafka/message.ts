import type { IHeaders, Message } from 'kafkajs';
import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import { formatCursor, parseCursor } from '#kernel/base/cursor.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { ofThisRelease } from '#shared/change-stream/of-this-release.ts';
import type { ChangeToPublish } from '#shared/change-stream/publication.ts';
import { cursorOf, type NamingLog } from '#shared/event-log/own-cursor.ts';
import type { Catalogue } from '#shared/events/catalogue.ts';

/**
 * A message in a form for other consumers too: its key is the aggregate’s stream, its value the change in
 * JSON.
 */
export const toMessage = (
  eventLog: NamingLog,
  { change, previous, correlation }: ChangeToPublish,
): EncodedMessage => ({
  key: change.stream,
  value: Buffer.from(JSON.stringify(change)),
  headers: {
    cursor: cursorOf(eventLog, change.position, change.id),
    previous: formatCursor(eventLog.identity, previous),
    type: change.type,
    'schema-version': String(change.schemaVersion),
    'correlation-id': correlation,
    ...(change.trace !== undefined && { traceparent: change.trace }),
  },
});

export type EncodedMessage = Omit<Message, 'value'> & { readonly value: Buffer };

export type Received = { readonly change: Change; readonly previous: Position; readonly bytes: number };

type Reading = { readonly identity: LogIdentity; readonly catalogue: Catalogue };

/** Throws if the message is foreign, or of another log. */
export const fromMessage = (
  { identity, catalogue }: Reading,
  { headers = {}, value }: Pick<Message, 'headers' | 'value'>,
): Received => {
  const position = parseCursor(identity, headerOf(headers, 'cursor'));
  const previous = parseCursor(identity, headerOf(headers, 'previous'));
  const text = String(value);
  // The cursors show that `toMessage` wrote it; only we may write to the topic. The first release published
  // no origin.
  const parsed = JSON.parse(text) as Omit<Change, 'origin'> & Partial<Change>;
  const change: Change = { ...parsed, origin: parsed.origin ?? null };
  if (change.position !== position)
    throw new RangeError(`the message of position ${position} holds the change of ${change.position}`);
  return { change: ofThisRelease(catalogue, change), previous, bytes: text.length };
};

const headerOf = (headers: IHeaders, name: string): string => String(headers[name] ?? '');
