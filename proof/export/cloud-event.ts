import * as z from 'zod';
import type { EventId, LogIdentity, Position, StreamName, Version } from '#kernel/base/brands.ts';
import { position, version } from '#kernel/base/events/fields.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { timeOf } from '#shared/event-log/time-of.ts';
import type { Canonical } from '../stored/canonical.ts';
import { canonical } from '../stored/signing-keys.ts';

/**
 * The number of digits of the greatest position, so that the texts sort as the positions do, as the extension
 * `sequence` demands.
 */
const SEQUENCE_DIGITS = 16;

/**
 * An event as a line of CloudEvents 1.0 in JSON. Its stream is the subject; the extensions `sequence`,
 * `streamversion` and `metadata` are its position, its version in the stream, and the text of its metadata,
 * so that nothing of it is lost. Personal fields stay sealed.
 */
export const toLine = (log: LogIdentity, event: RecordedEvent): string =>
  JSON.stringify({
    specversion: '1.0',
    id: event.id,
    source: sourceOf(log),
    type: event.type,
    subject: event.stream,
    time: (timeOf(event) ?? event.recordedAt).toISOString(),
    datacontenttype: 'application/json',
    sequence: String(event.position).padStart(SEQUENCE_DIGITS, '0'),
    streamversion: event.version,
    recordedtime: event.recordedAt.toISOString(),
    metadata: textOf(event.metadata),
    data: event.data,
  });

/** An event of an export, with its position in the log. */
export type ExportedEvent = Canonical & { readonly position: Position };

/** Throws if it is no line of an export of this log. */
export const fromLine = (log: LogIdentity, text: string): ExportedEvent => {
  const line = Line.parse(JSON.parse(text));
  if (line.source !== sourceOf(log)) throw new RangeError(`it is an event of ${line.source}`);
  return {
    id: line.id as EventId,
    type: line.type,
    stream: line.subject as StreamName,
    version: line.streamversion,
    position: position.parse(Number(line.sequence)),
    data: line.data,
    metadata: jsonObject.parse(JSON.parse(line.metadata)),
  };
};

/** The log, as a URI. */
export const sourceOf = (log: LogIdentity): string => `urn:uuid:${log}`;

/** RFC 8785, or as close as damaged metadata allows. */
const textOf = (metadata: JsonObject): string => {
  try {
    return canonical(metadata);
  } catch {
    return JSON.stringify(metadata);
  }
};

const jsonObject = z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject>;

const Line = z.strictObject({
  specversion: z.literal('1.0'),
  id: z.string(),
  source: z.string(),
  type: z.string(),
  subject: z.string(),
  time: z.iso.datetime(),
  datacontenttype: z.literal('application/json'),
  sequence: z.string().regex(/^\d{16}$/),
  streamversion: version as z.ZodType<Version, number>,
  recordedtime: z.iso.datetime(),
  metadata: z.string(),
  data: jsonObject,
});
