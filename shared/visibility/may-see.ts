import type { StreamName } from '#kernel/base/brands.ts';
import type { EventDefinition } from '#kernel/base/events/define-event.ts';
import type { Operation } from '#kernel/base/operation.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { visibilityOf } from '#kernel/visibility/visibility.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { type Caller, mayByFacts } from '#shared/policy.ts';

/**
 * Whether a caller may see that an event happened; the visibility of its data is decided separately. A change
 * may come from another release, through Kafka or the ledger of webhooks: a kind or a right unknown to this
 * release is invisible.
 */
export const maySee = (
  caller: Caller,
  change: Pick<Change, 'type' | 'stream' | 'right' | 'resource' | 'former'>,
): boolean => {
  if (caller.kind === 'system') return true;
  const { right, resource, former } = change;
  return (
    isPublic(caller.policy.domain, change) &&
    (mayByFacts(caller, right, resource) || (former !== undefined && mayByFacts(caller, right, former)))
  );
};

/**
 * Whether anybody outside may see it at all. An unknown kind of stream is invisible, and so is a type in a
 * stream of another kind. An unknown type may be internal, but administrators see that its aggregate is
 * missing from the read model.
 */
export const isPublic = (
  domain: Domain,
  { type, stream }: { readonly type: string; readonly stream: StreamName },
): boolean => {
  const definition = catalogueOf(domain).find(type);
  if (definition === undefined) return rightToUnknown(domain, stream) !== undefined;
  return definition.visibility === 'public' && stream.startsWith(`${definition.stream.kind}-`);
};

/** The right to a damaged event. Only administrators read an event without ids. */
export const rightToDamaged = (domain: Domain, stream: StreamName): Operation =>
  rightToUnknown(domain, stream) ?? 'user.read_private';

/** Undefined for kinds that are not in the read model. */
const rightToUnknown = (domain: Domain, stream: StreamName): Operation | undefined => {
  const catalogue = catalogueOf(domain);
  const kind = catalogue.kindOf(stream);
  const ofKernel = ({ stream, visibleTo }: EventDefinition): boolean =>
    stream.kind === kind && visibleTo?.isProjected === true;
  return (
    visibilityOf(domain).kinds.get(kind ?? '')?.rightToDamaged ??
    catalogue.definitions.find(ofKernel)?.visibleTo?.right
  );
};
