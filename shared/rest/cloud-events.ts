import type { Json, JsonObject } from '#kernel/base/json.ts';
import { schemaPathOf } from './event-types.ts';

/** An event as clients get it, in any of its forms. */
export type Represented = {
  readonly id: string;
  readonly type: string;
  readonly version: number;
  readonly at: string;
  readonly cursor: string;
  readonly subject: string;
  readonly data: JsonObject;
  readonly [more: string]: Json | undefined;
};

/**
 * The same event in the form of CloudEvents 1.0 (structured mode, in JSON). The members that it has no words for are
 * extensions, whose names are in lower case; an unknown one is absent, because an attribute is never null.
 */
export const cloudEventOf = (
  { id, type, version, at, subject, data, ...more }: Represented,
  publicUrl: string,
): JsonObject => ({
  specversion: '1.0',
  id,
  source: publicUrl,
  type,
  subject,
  time: at,
  datacontenttype: 'application/json',
  dataschema: publicUrl.replace(/\/$/, '') + schemaPathOf({ type, version }),
  ...Object.fromEntries(
    Object.entries(more).flatMap(([name, value]) => extensionsOf(name.toLowerCase(), value)),
  ),
  data,
});

/** The members of an object are attributes of their own, because values have no structure. */
const extensionsOf = (name: string, value: Json | undefined): readonly (readonly [string, Json])[] => {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return [[name, JSON.stringify(value)]];
  if (typeof value !== 'object') return [[name, value]];
  return Object.entries(value).flatMap(([member, inner]) => extensionsOf(name + member.toLowerCase(), inner));
};

/**
 * The attributes of a CloudEvent as headers (binary mode of its HTTP binding). Its values are in ASCII: the
 * binding has its own percent-encoding.
 */
export const attributeHeaders = ({
  datacontenttype,
  ...attributes
}: JsonObject): Readonly<Record<string, string>> => ({
  'content-type': String(datacontenttype),
  ...Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [`ce-${name}`, encoded(String(value))]),
  ),
});

const encoded = (value: string): string =>
  value.toWellFormed().replaceAll(TO_ENCODE, (character) => encodeURIComponent(character));
/** All but visible ASCII; also quotes and the percent sign. */
const TO_ENCODE = /[^!#$&-~]/gu;
