import { type Attributes, anyHoldsOf, type Find, type State } from '../conditions/holds.ts';
import { rightsOf } from '../conditions/rights.ts';
import type { Domain } from '../registry/registry.ts';
import { visibilityOf } from './visibility.ts';

/**
 * What happened to an aggregate, which was and is as these say; absent before its creation, and after its end
 * what it belonged to.
 */
export type Told = {
  readonly kind: string;
  readonly event: string;
  readonly data: State;
  readonly before: State | undefined;
  readonly after: State | undefined;
};
type Asker = { readonly role: string; readonly id: number | null; readonly own?: Attributes };

/**
 * Whether somebody may know of an event: whoever may read the aggregate as it was before or after it. If all
 * that the event changed may be read by fewer, they alone. What references lead to is as of the event.
 * Unknown kinds and events are invisible.
 */
export const mayKnow = (
  domain: Domain,
  { kind: name, event, data, before, after }: Told,
  { role, id, own }: Asker,
  find: Find,
): boolean => {
  const type = visibilityOf(domain).types.get(`${name}.${event}`);
  const reach = type && rightsOf(domain).get(type.rightTo(data))?.byRole.get(role);
  if (reach === undefined) return false;
  const holds = anyHoldsOf(reach);
  return [before, after].some((state) => state !== undefined && holds(state, id, find, own));
};
