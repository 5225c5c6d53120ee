import { type Attributes, anyHoldsOf, type Find, type State } from '../conditions/holds.ts';
import { rightsOf } from '../conditions/rights.ts';
import type { Domain } from '../registry/registry.ts';
import { visibilityOf } from './visibility.ts';

/**
 * An event with the state of its aggregate before and after it. The former is undefined before creation; the
 * latter keeps the last fields after the end.
 */
export type Occurrence = {
  readonly kind: string;
  readonly event: string;
  readonly data: State;
  readonly before: State | undefined;
  readonly after: State | undefined;
};
type Asker = { readonly role: string; readonly id: number | null; readonly own?: Attributes };

/**
 * Returns whether somebody may see an event: anyone who may read the aggregate before or after it. If all
 * changes are in guarded parts, only those with the right to one. References are resolved as of the event.
 * Unknown kinds and events are invisible.
 */
export const maySee = (
  domain: Domain,
  { kind: name, event, data, before, after }: Occurrence,
  { role, id, own }: Asker,
  find: Find,
): boolean => {
  const type = visibilityOf(domain).types.get(`${name}.${event}`);
  const reach = type && rightsOf(domain).get(type.rightTo(data))?.byRole.get(role);
  if (reach === undefined) return false;
  const holds = anyHoldsOf(reach);
  return [before, after].some((state) => state !== undefined && holds(state, id, find, own));
};
