import { wire } from '../registry/names.ts';
import type { Domain, Kind } from '../registry/registry.ts';
import { type Find, holds, type State } from './holds.ts';
import { operationOf, type Right, rightsOf } from './rights.ts';

/** What happened to an aggregate, which was and is as these say; absent before its creation, and after its end what it belonged to. */
export type Told = {
  readonly kind: string;
  readonly event: string;
  readonly data: State;
  readonly before: State | undefined;
  readonly after: State | undefined;
};
type Asker = { readonly role: string; readonly id: number | null };

/**
 * Whether somebody may know of an event: whoever may read the aggregate as it was before or after it. If all that the event changed may
 * be read by fewer, they alone. What references lead to is as of the event. Unknown kinds and events are invisible.
 */
export const mayKnow = (domain: Domain, { kind: name, event, data, before, after }: Told, { role, id }: Asker, find: Find): boolean => {
  const kind = domain.kinds[name];
  if (kind === undefined) return false;
  const reach = rightToKnow(domain, kind, event, data)?.byRole.get(role);
  if (reach === undefined) return false;
  return [before, after].some((state) => state !== undefined && [...reach].some((each) => holds(each, state, id, find)));
};

/** The right to read it that an event asks for; none if it is unknown or internal. */
export const rightToKnow = (domain: Domain, kind: Kind, event: string, data: State): Right | undefined => {
  const info = kind.events[event];
  if (info === undefined || info.spec.internal === true) return undefined;
  const changed = info.effect === 'changes' ? info.content.filter((field) => wire(field, kind.fields[field]) in data) : [];
  const isKept = (reads: unknown): boolean => changed.length > 0 && changed.every((field) => (reads as readonly string[]).includes(field));
  const guard = Object.entries(kind.fieldRights).find(([, { reads = [] }]) => isKept(reads));
  return rightsOf(domain).get(operationOf(kind, guard?.[0] ?? 'read'));
};
