import * as z from 'zod';
import type { JsonObject } from '#kernel/base/json.ts';
import { Links } from '#kernel/base/rest/fields.ts';

const object = z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject>;

/** The address of the schema of its data, which is also the end of its identifier. */
export const schemaPathOf = ({ type, version }: Pick<EventType, 'type' | 'version'>): string =>
  `/schemas/events/${type}/${version}`;

export const EventType = z
  .strictObject({
    type: z.string().meta({ examples: ['user.updated'] }),
    version: z.int().positive().meta({
      description: 'Increased when the shape of the data changes. Within a version, fields are only added.',
    }),
    description: z.string(),
    schema: object.meta({ description: 'JSON Schema 2020-12 of the complete `data`.' }),
    example: object.meta({ description: 'Example of the data.' }),
    personalFields: z
      .array(z.string())
      .meta({ description: 'These fields are null after the person was erased.' }),
    _links: Links,
  })
  .meta({ id: 'EventType' });
export type EventType = Readonly<z.infer<typeof EventType>>;
