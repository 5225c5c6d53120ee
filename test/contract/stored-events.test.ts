import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { EventDefinition } from '#kernel/base/events/define-event.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { printedJson } from '../../command-line/domain/contract/printed-json.ts';
import { expectRecorded } from './expect-recorded.ts';

/** One event of each version of each type ever written; these never change (shared/events/golden.test.ts). */
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

/** The current stored form is in domain/contract; this is how former versions are read. */
test('events of former versions are read as recorded', () => {
  const types = catalogueOf(publishing).definitions.flatMap((definition) => {
    const earlier = earlierOf(definition);
    return Object.keys(earlier).length === 0 ? [] : [[definition.type, earlier]];
  });
  expectRecorded('stored-events.json', printedJson(Object.fromEntries(types)));
});
