import * as z from 'zod';
import type { LogIdentity } from '#kernel/base/brands.ts';
import { CURSOR_PATTERN, formatCursor } from '#kernel/base/cursor.ts';
import type { EventDefinition } from '#kernel/base/events/define-event.ts';
import { isLogPosition, withCursors } from '#kernel/base/events/log-positions.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { type EventType, schemaPathOf } from '#shared/rest/event-types.ts';
import type { Reads } from '../rest/read-routes.ts';

/** Also describes internal types, which `eventTypesOf` omits. */
export const describeEventType = (definition: EventDefinition): EventType => {
  const { type, version, description, personal, example } = definition;
  const concealed: ReadonlySet<string> = new Set(personal?.concealed);
  const shown = withCursors(definition.schema, example, ({ position }) =>
    formatCursor(EXAMPLE_LOG, position),
  );
  return {
    type,
    version,
    description,
    schema: schemaOf(definition, concealed),
    example: Object.fromEntries(Object.entries(shown).filter(([name]) => !concealed.has(name))),
    personalFields: (personal?.fields ?? []).filter((name) => !concealed.has(name)),
    _links: { schema: { href: schemaPathOf(definition) } },
  };
};

/** The schema of the data as clients get it, also after its person was erased. */
const schemaOf = ({ erasedSchema }: EventDefinition, concealed: ReadonlySet<string>): JsonObject => {
  const shown = z.strictObject(
    Object.fromEntries(Object.entries(erasedSchema.shape).filter(([name]) => !concealed.has(name))),
  );
  // Through JSON, so that nothing else remains.
  return JSON.parse(
    JSON.stringify(z.toJSONSchema(shown, { target: 'draft-2020-12', override: asCursor })),
  ) as JsonObject;
};

export const EXAMPLE_LOG = '6f9619ff-8b86-4011-b42d-00c04fc964ff' as LogIdentity;

type Overridden = { readonly zodSchema: unknown; readonly jsonSchema: Record<string, unknown> };

/** A position of the log becomes a cursor. */
const asCursor = ({ zodSchema, jsonSchema }: Overridden): void => {
  if (!isLogPosition(zodSchema)) return;
  for (const name of Object.keys(jsonSchema)) delete jsonSchema[name];
  Object.assign(jsonSchema, { type: 'string', pattern: CURSOR_PATTERN });
};

/** Every public event type, by name. */
export const eventTypesOf = oncePer((domain: Domain): readonly EventType[] => describePublic(domain));

const describePublic = (domain: Domain): readonly EventType[] =>
  catalogueOf(domain)
    .definitions.filter(({ visibility }) => visibility === 'public')
    .map(describeEventType)
    .toSorted((one, other) => (one.type < other.type ? -1 : 1));

/** The same for every caller, while this release runs. */
export const eventTypeReads = (domain: Domain): Reads<'listEventTypes'> => ({
  listEventTypes: async (_reader, { type }) => ({
    kind: 'list',
    items: eventTypesOf(domain).filter((each) => type === undefined || each.type === type),
    links: { self: type === undefined ? '/event-types' : `/event-types?type=${encodeURIComponent(type)}` },
  }),
});
