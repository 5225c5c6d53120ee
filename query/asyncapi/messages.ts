import type * as z from 'zod';
import type { JsonObject } from '#kernel/base/json.ts';
import { CLOUD_EVENT_TYPE } from '#kernel/base/rest/cloud-event-types.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { EventType } from '#shared/rest/event-types.ts';
import { Event } from '#shared/rest/events.ts';
import { eventTypesOf } from '../event-types/event-types.ts';
import type { JsonSchemas } from '../openapi/json-schemas.ts';

/** A message for each public event type, and the form of all of them as CloudEvents. */
export const eventMessages = (domain: Domain, schemas: JsonSchemas): Readonly<Record<string, JsonObject>> => {
  const event = schemas.of(Event, 'output');
  return {
    ...Object.fromEntries(eventTypesOf(domain).map((each) => [each.type, messageOf(each, event)])),
    [CLOUD_EVENT]: cloudEventMessage,
  };
};

/** Types of events have a dot. */
const CLOUD_EVENT = 'cloudevent';
const text = (more: JsonObject = {}): JsonObject => ({ type: 'string', ...more });
const ATTRIBUTES: JsonObject = {
  specversion: text({ const: '1.0' }),
  id: text({ format: 'uuid' }),
  source: text({ format: 'uri', description: 'The URL of this installation.' }),
  type: text({ description: 'The type of the event.' }),
  subject: text({ description: 'The item of the event.' }),
  time: text({ format: 'date-time' }),
  datacontenttype: text({ const: 'application/json' }),
  dataschema: text({ format: 'uri', description: 'The address of the JSON Schema of complete `data`.' }),
  cursor: text({ description: 'Its position in the log.' }),
};
const cloudEventMessage: JsonObject = {
  name: CLOUD_EVENT,
  title: 'CloudEvent',
  summary: 'An event of any type as a CloudEvent 1.0, if the subscriber asks for that.',
  contentType: CLOUD_EVENT_TYPE,
  payload: {
    type: 'object',
    properties: { ...ATTRIBUTES, data: { type: 'object' } },
    required: [...Object.keys(ATTRIBUTES), 'data'],
  },
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
