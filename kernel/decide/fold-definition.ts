import { createHash } from 'node:crypto';
import packageJson from '../../package.json' with { type: 'json' };
import type { EventInfo, Kind, ListInfo } from '../registry/registry.ts';

/**
 * Identifies what the fold of an aggregate means: any change that gives the same events another state changes
 * it. Of functions it covers the source text, not what that refers to. Each release has its own, because it
 * may fold differently.
 */
export const foldDefinitionOf = ({ name, identity, fields, lists, derived, events }: Kind): string => {
  const said = {
    release: packageJson.version,
    name,
    identity,
    fields: Object.entries(fields).map(([field, def]) => [field, def.kind, def.initial, def.remembers]),
    lists: Object.values(lists).map(listOf),
    derived: derived.map((each) => [each.name, each.list.name, each.field]),
    events: Object.values(events).map(eventOf),
  };
  return createHash('sha256').update(JSON.stringify(said, withCode)).digest('base64url');
};

const listOf = ({ name, fields, key, id, isOrdered, settled }: ListInfo) => [
  ...[name, key, id.name, isOrdered, settled],
  Object.entries(fields).map(([field, def]) => [field, def.kind, def.initial]),
];

const eventOf = ({ type, version, effect, list, values, content, sets, upcast, spec }: EventInfo) => [
  ...[type, version, effect, list?.name, values, content, sets, upcast, spec.claim],
];

const withCode = (_: string, value: unknown): unknown =>
  typeof value === 'function' ? String(value) : value;
