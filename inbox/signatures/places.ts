import type { Json, JsonObject } from '#kernel/base/json.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Place } from '#kernel/registry/sender-info.ts';
import { headerOf, type Received } from './verifier.ts';

/** As in the key of a command: visible ASCII, so that it can be found in a log. */
const ID = /^[\x21-\x7e]{1,255}$/;

/** The text at a place of a message; a whole number counts as one. */
export const textAt = (place: Place, received: Received, payload: Json): string | undefined =>
  'header' in place ? headerOf(received, place.header) : textIn(payload, place.field);

const textIn = (payload: Json, field: string): string | undefined => {
  let value: Json | undefined = payload;
  for (const name of field.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name))
      return undefined;
    value = (value as JsonObject)[name];
  }
  return typeof value === 'string' ? value : Number.isSafeInteger(value) ? String(value) : undefined;
};

const nameOf = (place: Place): string =>
  'header' in place ? `the header ${place.header}` : `the field ${place.field}`;

export const demandId = (id: string | undefined, place: Place): string => {
  if (id === undefined || !ID.test(id))
    throw new HttpProblem('invalid_request', {
      detail: `The message has no id in ${nameOf(place)}: send 1 to 255 visible ASCII characters, the same in each delivery of it.`,
    });
  return id;
};

/** A message without a type is ignored like one of an unknown type. */
export const typesOf = (type: string | undefined): readonly string[] => (type === undefined ? [] : [type]);
