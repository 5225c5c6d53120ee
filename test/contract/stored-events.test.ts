import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'vitest';
import * as z from 'zod';
import { publishing } from '#domain/publishing.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import type { EventDefinition } from '#shared/events/define-event.ts';
import { expectRecorded } from './expect-recorded.ts';
import { printedJson } from './printed-json.ts';

/** What was ever written, one of each version of each type; these are never changed (shared/events/golden.test.ts). */
const FIXTURES = new URL('../../shared/events/golden/', import.meta.url);

const earlierOf = ({ type, version }: EventDefinition): object => {
  const versions = readdirSync(FIXTURES).flatMap((file) => {
    const [, each] = new RegExp(`^${type.replace('.', '\\.')}\\.v(\\d+)\\.json$`).exec(file) ?? [];
    if (each === undefined || Number(each) === version) return [];
    const { stored, decoded } = JSON.parse(readFileSync(new URL(file, FIXTURES), 'utf8'));
    return [[each, { stored: stored.data, decoded }]];
  });
  return Object.fromEntries(versions);
};

/** No interface tells of all events: some are internal, and secrets are told to nobody. So this asks the catalogue itself, in this one place. */
const storedFormOf = (definition: EventDefinition): object => {
  const { version, visibility, stream, personal, schema, example, upcasters } = definition;
  const earlier = earlierOf(definition);
  return { version, visibility, stream, personal, schema: z.toJSONSchema(schema), example, upcastsFrom: Object.keys(upcasters), earlier };
};

test('all types of events are stored as was recorded', () => {
  const types = catalogueOf(publishing).definitions.map((definition) => [definition.type, storedFormOf(definition)]);
  expectRecorded('stored-events.json', printedJson(Object.fromEntries(types)));
});
