import { wire } from '#kernel/registry/names.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { visibilityOf } from '#kernel/visibility/visibility.ts';
import type { StreamName } from '#shared/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import type { JsonObject } from '#shared/json.ts';
import { type Caller, mayByFacts } from '#shared/policy.ts';

type Changed = Pick<Change, 'stream' | 'resource'>;

/** What of the data of a change a caller gets to see, who may read what it happened to. */
export const visibleTo = (domain: Domain, caller: Caller, change: Changed, data: JsonObject): JsonObject =>
  seesAll(domain, caller, change) ? data : withoutPrivate(domain, change.stream, data);

/** Whether nothing of it is kept from them. */
export const seesAll = (domain: Domain, caller: Caller, { stream, resource }: Changed): boolean => {
  const kind = catalogueOf(domain).kindOf(stream);
  const guards = visibilityOf(domain).kinds.get(kind ?? '')?.guards ?? [];
  return kind !== undefined && guards.every(({ operation }) => mayByFacts(caller, operation, resource));
};

/** Whether fewer may read a field than the rest. */
export const isPrivate = (domain: Domain, kind: string, name: string): boolean =>
  visibilityOf(domain)
    .kinds.get(kind)
    ?.guards.some(({ names }) => names.has(name)) === true;

export const withoutPrivate = (domain: Domain, stream: StreamName, data: JsonObject): JsonObject => {
  const kind = catalogueOf(domain).kindOf(stream) ?? '';
  return only(data, (name) => !isPrivate(domain, kind, name));
};

/** All that is left for whoever may know of it and not read it. */
export const idsIn = (domain: Domain, stream: StreamName, data: JsonObject): JsonObject => {
  const kind = domain.kinds[catalogueOf(domain).kindOf(stream) ?? ''];
  if (!kind) return only(data, (name) => name.endsWith('Id'));
  const references = Object.entries(kind.fields).flatMap(([name, def]) => (def.kind === 'ref' ? [wire(name, def)] : []));
  const ids = new Set([`${kind.name}Id`, ...references]);
  return only(withoutPrivate(domain, stream, data), (name) => ids.has(name));
};

const only = (data: JsonObject, isMeant: (name: string) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(data).filter(([name]) => isMeant(name)));
