import { guardOfField } from '#kernel/conditions/parts-of.ts';
import { operationOf } from '#kernel/conditions/rights.ts';
import { wire } from '#kernel/registry/names.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type PartTold, visibilityOf } from '#kernel/visibility/visibility.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import type { JsonObject } from '#shared/json.ts';
import { type Caller, mayAlways, mayByFacts, type Operation } from '#shared/policy.ts';
import type { IsReadable } from './present-rights.ts';

type Changed = Pick<Change, 'type' | 'stream' | 'resource' | 'former'>;

/** Who asks, and what they may read now. */
type Asking = { readonly domain: Domain; readonly caller: Caller; readonly isReadable: IsReadable };

/** What of the data of a change a caller gets to see, who may read what it happened to. */
export const visibleTo = async (asking: Asking, change: Changed, data: JsonObject): Promise<JsonObject> => {
  const parts = partsIn(asking.domain, change, data);
  const lacked = await lackedBy(
    asking,
    change,
    parts.map(({ operation }) => operation),
  );
  return without(
    data,
    parts.filter(({ operation }) => lacked.has(operation)),
  );
};

/** Whether nothing of it is kept from them. */
export const seesAll = async (asking: Asking, change: Changed, data: JsonObject): Promise<boolean> => {
  if (catalogueOf(asking.domain).kindOf(change.stream) === undefined) return false;
  const operations = partsIn(asking.domain, change, data).map(({ operation }) => operation);
  return (await lackedBy(asking, change, operations)).size === 0;
};

/**
 * Those of some rights to parts that a caller did not have, neither before a change nor after it, or does not
 * have any more.
 */
export const lackedBy = async (
  { caller, isReadable }: Asking,
  { stream, resource, former }: Changed,
  operations: readonly Operation[],
): Promise<ReadonlySet<Operation>> => {
  const lacked = new Set<Operation>();
  for (const operation of new Set(operations)) {
    const hadIt =
      mayByFacts(caller, operation, resource) ||
      (former !== undefined && mayByFacts(caller, operation, former));
    if (!hadIt || !(mayAlways(caller, operation) || (await isReadable(caller, stream, operation))))
      lacked.add(operation);
  }
  return lacked;
};

/** What of an event fewer may read than the aggregate. */
export const partsIn = (
  domain: Domain,
  { type, stream }: Pick<Changed, 'type' | 'stream'>,
  data: JsonObject,
): readonly PartTold[] => {
  const { types, kinds } = visibilityOf(domain);
  const told = types.get(type);
  if (told !== undefined) return told.parts.filter((part) => part.isIn(data));
  // Of a type that is not known, whatever is called like a field is taken for it.
  const guards = kinds.get(catalogueOf(domain).kindOf(stream) ?? '')?.guards ?? [];
  return guards.map((guard) => ({ ...guard, isIn: () => true }));
};

/** The right to a field of an aggregate, where fewer may read it than the rest. */
export const rightToField = ({ kinds }: Domain, kind: string, field: string): Operation | undefined => {
  const name = kinds[kind] && guardOfField(kinds[kind], field);
  return name === undefined || kinds[kind] === undefined ? undefined : operationOf(kinds[kind], name);
};

export const withoutPrivate = (
  domain: Domain,
  change: Pick<Changed, 'type' | 'stream'>,
  data: JsonObject,
): JsonObject => without(data, partsIn(domain, change, data));

/** All that is left for whoever may know of it and not read it. */
export const idsIn = (
  domain: Domain,
  change: Pick<Changed, 'type' | 'stream'>,
  data: JsonObject,
): JsonObject => {
  const kind = domain.kinds[catalogueOf(domain).kindOf(change.stream) ?? ''];
  if (!kind) return only(data, (name) => name.endsWith('Id'));
  const references = Object.entries(kind.fields).flatMap(([name, def]) =>
    def.kind === 'ref' ? [wire(name, def)] : [],
  );
  const ids = new Set([`${kind.name}Id`, ...references]);
  return only(withoutPrivate(domain, change, data), (name) => ids.has(name));
};

const without = (data: JsonObject, parts: readonly PartTold[]): JsonObject =>
  parts.length === 0 ? data : only(data, (name) => !parts.some(({ names }) => names.has(name)));

const only = (data: JsonObject, isMeant: (name: string) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(data).filter(([name]) => isMeant(name)));
