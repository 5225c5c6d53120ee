import { CLOUD_EVENT_TYPE } from '#kernel/base/rest/cloud-event-types.ts';
import type { ChangeToPublish } from '#shared/change-stream/publication.ts';
import { cursorOf, type NamingLog } from '#shared/event-log/own-cursor.ts';
import { cloudEventOf } from '#shared/rest/cloud-events.ts';
import type { CopyFormat } from './kafka-url.ts';
import type { EncodedMessage } from './message.ts';

type Writing = {
  readonly eventLog: NamingLog;
  /** The URL by which consumers know this installation. */
  readonly publicUrl: string;
};

/** The digits of the greatest position, so that the texts sort as the positions do. */
const SEQUENCE_DIGITS = 16;

/**
 * The message of the topic in the format of its copy for other consumers: a CloudEvent 1.0, by the Kafka binding.
 * Its `sequence` is the position, and `streamversion` the version of the item.
 */
export const copyOf = (
  format: CopyFormat,
  own: EncodedMessage,
  { change }: ChangeToPublish,
  { eventLog, publicUrl }: Writing,
): EncodedMessage => {
  if (format === 'annals') return own;
  const { data = null, ...attributes } = cloudEventOf(
    {
      ...{ id: change.id, type: change.type, version: change.schemaVersion, at: change.at },
      ...{ importedAt: change.importedAt, reason: change.reason, actor: change.origin?.actor },
      cursor: cursorOf(eventLog, change.position, change.id),
      subject: change.stream,
      partitionkey: change.stream,
      sequence: String(change.position).padStart(SEQUENCE_DIGITS, '0'),
      streamversion: change.version,
      parked: change.isParked || undefined,
      traceparent: change.trace,
      data: change.data,
    },
    publicUrl,
  );
  if (format === 'cloudevents')
    return {
      key: change.stream,
      value: Buffer.from(JSON.stringify({ ...attributes, data })),
      headers: { 'content-type': CLOUD_EVENT_TYPE },
    };
  const { datacontenttype, ...others } = attributes;
  return {
    key: change.stream,
    value: Buffer.from(JSON.stringify(data)),
    headers: {
      'content-type': String(datacontenttype),
      ...Object.fromEntries(Object.entries(others).map(([name, value]) => [`ce_${name}`, String(value)])),
    },
  };
};
