import type { JsonObject } from '#kernel/base/json.ts';
import { wire } from '#kernel/base/names.ts';
import type { Operation } from '#kernel/base/operation.ts';
import { guardOfField } from '#kernel/conditions/parts-of.ts';
import { operationOf } from '#kernel/conditions/rights.ts';
import { parentKeysOf } from '#kernel/registry/event-references.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type GuardedContent, visibilityOf } from '#kernel/visibility/visibility.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { type Caller, mayAlways, mayByFacts } from '#shared/policy.ts';
import type { IsReadable } from './present-rights.ts';

type Changed = Pick<Change, 'type' | 'stream' | 'resource' | 'former'>;

/** The caller, and the rights it has now. */
type Asking = { readonly domain: Domain; readonly caller: Caller; readonly isReadable: IsReadable };

/** The data of a change as a caller sees it who may read its aggregate. */
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

/** Whether the caller may see all of the data. */
export const seesAll = async (asking: Asking, change: Changed, data: JsonObject): Promise<boolean> => {
  if (catalogueOf(asking.domain).kindOf(change.stream) === undefined) return false;
  const operations = partsIn(asking.domain, change, data).map(({ operation }) => operation);
  return (await lackedBy(asking, change, operations)).size === 0;
};

/**
 * Returns those of some part rights that a caller had neither before a change nor after it, or has lost
 * since.
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

/** The parts of an event that fewer may read than the aggregate. */
export const partsIn = (
  domain: Domain,
  { type, stream }: Pick<Changed, 'type' | 'stream'>,
  data: JsonObject,
): readonly GuardedContent[] => {
  const { types, kinds } = visibilityOf(domain);
  const known = types.get(type);
  if (known !== undefined) return known.parts.filter((part) => part.isIn(data));
  // In an unknown type, any key that is named like a guarded field counts as that field.
  const guards = kinds.get(catalogueOf(domain).kindOf(stream) ?? '')?.guards ?? [];
  return guards.map((guard) => ({ ...guard, isIn: () => true }));
};

/** The right to a field of an aggregate, if fewer may read it than the rest. */
export const rightToField = ({ kinds }: Domain, kind: string, field: string): Operation | undefined => {
  const name = kinds[kind] && guardOfField(kinds[kind], field);
  return name === undefined || kinds[kind] === undefined ? undefined : operationOf(kinds[kind], name);
};

export const withoutPrivate = (
  domain: Domain,
  change: Pick<Changed, 'type' | 'stream'>,
  data: JsonObject,
): JsonObject => without(data, partsIn(domain, change, data));

/** The only data left for a caller who may see the event but not read the aggregate. */
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
  const ids = new Set([`${kind.name}Id`, ...references, ...parentKeysOf(kind)]);
  return only(withoutPrivate(domain, change, data), (name) => ids.has(name));
};

const without = (data: JsonObject, parts: readonly GuardedContent[]): JsonObject =>
  parts.length === 0 ? data : only(data, (name) => !parts.some(({ names }) => names.has(name)));

const only = (data: JsonObject, isMeant: (name: string) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(data).filter(([name]) => isMeant(name)));
