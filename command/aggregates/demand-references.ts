import { operationOf } from '#kernel/conditions/rights.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import { findBy } from '#kernel/decide/guards.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import { spaced, targetOf, wire } from '#kernel/registry/names.ts';
import type { Domain, EventInfo, Kind, Row } from '#kernel/registry/registry.ts';
import { type Caller, isInReach, mayAlways } from '#shared/policy.ts';
import { Rejection } from '#shared/rejection.ts';
import type { States } from '../states.ts';
import type { ReadReferences } from './read-references.ts';
import { streamOf } from './target.ts';

/** A reference that an event sets: its field, if it belongs to no item, its key in the data, and its target. */
type Reference = { readonly field: string | undefined; readonly key: string; readonly target: Kind };
type Event = { readonly type: string; readonly data: Row };

/**
 * Refuses events that refer to an aggregate that does not exist, or that the caller may not read: both are
 * refused alike. The target may end before the events are appended, so reads never rely on it. Commands of
 * the system itself may refer to an ended aggregate, which may have ended since their cause.
 */
export type DemandReferences = (
  events: readonly Event[],
  /** The fields before the events; a reference that stays the same is not checked. */
  before: Row,
  caller: Caller,
) => Promise<void>;

type Dependencies = {
  readonly domain: Domain;
  readonly states: States;
  readonly readReferences: ReadReferences;
};

export const createDemandReferences = (dependencies: Dependencies): DemandReferences => {
  const { domain } = dependencies;
  const byType = new Map(
    Object.values(domain.kinds).flatMap((kind) =>
      Object.values(kind.events).map((event) => [event.type, referencesOf(domain, kind, event)] as const),
    ),
  );
  return async (events, before, caller) => {
    for (const { type, data } of events)
      for (const { field, key, target } of byType.get(type) ?? []) {
        const id = data[key];
        if (typeof id !== 'number' || (field !== undefined && before[field] === id)) continue;
        if (await isTarget(dependencies, { target, id }, caller)) continue;
        const isPublic = mayAlways(caller, operationOf(target, 'read'));
        const detail = `There is no such ${spaced(target.name)}${isPublic ? '' : ' that you may read'}.`;
        throw new Rejection('invalid_command', { errors: [{ pointer: `/${key}`, detail }] });
      }
  };
};

/** Without the owner and the parent, which have checks of their own. */
const referencesOf = (domain: Domain, kind: Kind, event: EventInfo): readonly Reference[] => {
  const { list, values } = event;
  const fields: readonly (readonly [string, FieldDef | undefined])[] =
    list === undefined
      ? values
          .filter((name) => name !== kind.owner && name !== kind.parent)
          .map((name) => [name, kind.fields[name]])
      : event.effect === 'adds' || event.effect === 'updates'
        ? [
            ...(event.effect === 'adds' ? [[list.key ?? '', list.id.def] as const] : []),
            ...Object.entries(list.fields),
          ]
        : [];
  return fields.flatMap(([name, def]) => {
    const target = def?.kind === 'ref' ? domain.kinds[targetOf(def)] : undefined;
    return target === undefined
      ? []
      : [{ field: list === undefined ? name : undefined, key: wire(name, def), target }];
  });
};

type Asked = { readonly target: Kind; readonly id: number };

const isTarget = async (
  { domain, states, readReferences }: Dependencies,
  { target, id }: Asked,
  caller: Caller,
): Promise<boolean> => {
  const { state } = await states.load<AggregateState, never>(deciderOf(domain, target), streamOf(target, id));
  if (caller.kind === 'system') return state.status !== 'absent';
  if (state.status !== 'present') return false;
  const { fields } = state;
  const look = await readReferences(target, fields);
  return isInReach(caller, operationOf(target, 'read'), { fields, find: findBy(look) });
};
