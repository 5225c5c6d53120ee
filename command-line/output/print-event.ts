import type { JsonObject } from '#kernel/base/json.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';

const DATA_CHARACTERS_MAX = 300;

/** An event as one line for people. Personal fields are encrypted in the log, and stay so here. */
export const eventLine = (event: RecordedEvent): string => {
  const { position, stream, version, type, data } = event;
  const text = harmless(JSON.stringify(withoutSeal(data)));
  const shown = text.length > DATA_CHARACTERS_MAX ? `${text.slice(0, DATA_CHARACTERS_MAX)}…` : text;
  return [String(position).padStart(6), timesOf(event), `${stream}@${version}`, type, shown].join('  ');
};

/** The time of the record, and that which an import claims. */
const timesOf = ({ recordedAt, metadata }: RecordedEvent): string =>
  metadata.importedAt === undefined
    ? recordedAt.toISOString()
    : `${recordedAt.toISOString()}, imported as of ${harmless(String(metadata.at))}`;

/** An event as one line for programs, exactly as recorded. */
export const eventJson = (event: RecordedEvent): string => JSON.stringify(event);

const withoutSeal = (data: JsonObject): JsonObject =>
  'personal' in data ? { ...data, personal: '[sealed]' } : data;

/** Terminals interpret control characters, and others change the direction of the text. */
export const harmless = (text: string): string =>
  text.replaceAll(
    /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
