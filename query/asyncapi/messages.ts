import type * as z from 'zod';
import type { JsonObject } from '#kernel/base/json.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { EventType } from '#shared/rest/event-types.ts';
import { Event } from '#shared/rest/events.ts';
import { eventTypesOf } from '../event-types/event-types.ts';
import type { JsonSchemas } from '../openapi/json-schemas.ts';

/** A message for each public event type. */
export const eventMessages = (domain: Domain, schemas: JsonSchemas): Readonly<Record<string, JsonObject>> => {
  const event = schemas.of(Event, 'output');
  return Object.fromEntries(eventTypesOf(domain).map((each) => [each.type, messageOf(each, event)]));
};

const messageOf = ({ type, version, description, schema }: EventType, event: JsonObject): JsonObject => {
  const { $schema: _, ...data } = schema;
  return {
    name: type,
    title: type,
    summary: description,
    contentType: 'application/json',
    payload: {
      allOf: [
        event,
        {
          type: 'object',
          properties: {
            type: { type: 'string', const: type },
            version: { type: 'integer', const: version },
            data: { anyOf: [data, ONLY_IDS] },
          },
        },
      ],
    },
  };
};

const ONLY_IDS: JsonObject = {
  type: 'object',
  description: 'Only ids, if you may not read the item now.',
};

/** The messages of a stream of rows, as `STREAM` of views describes them. */
export const rowMessages = (
  id: string,
  row: z.ZodType,
  schemas: JsonSchemas,
): Readonly<Record<string, JsonObject>> => {
  const shown = schemas.of(row, 'output');
  return {
    [`${id}.reset`]: rowMessage('reset', 'Discard all rows: all that you may read follow.', {}),
    [`${id}.changed`]: rowMessage('changed', 'Replace the row with this key.', { key: KEY, row: shown }),
    [`${id}.removed`]: rowMessage('removed', 'Remove the row with this key.', { key: KEY }),
  };
};

const KEY: JsonObject = { type: 'object', description: 'The parts of the key of the row.' };

const rowMessage = (type: string, summary: string, properties: JsonObject): JsonObject => ({
  name: type,
  summary,
  contentType: 'application/json',
  payload: {
    type: 'object',
    properties: { type: { type: 'string', const: type }, ...properties },
    required: ['type', ...Object.keys(properties)],
    additionalProperties: false,
  },
});
