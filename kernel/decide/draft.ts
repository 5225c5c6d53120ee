import { spaced, wire } from '../base/names.ts';
import { parsePlainly } from '../base/plain-issues.ts';
import { Rejection } from '../base/rejection.ts';
import type { FieldDef } from '../declare/fields.ts';
import { constantsIn } from '../registry/constants-in.ts';
import type { EventInfo, Kind, Row } from '../registry/registry.ts';
import { areEqual } from './are-equal.ts';
import type { Evolve } from './evolve.ts';
import type { Context } from './guards.ts';
import { demandUnheld } from './holds.ts';
import { itemDraftOf, oneOfList } from './items.ts';
import { demandKept } from './retention.ts';
import type { AggregateState, Happened, Present } from './state.ts';
import { demandOwnUploads } from './uploads.ts';

/** How an event is drafted from a form and a state. */
export type Draft = {
  readonly type: string;
  /** Empty if nothing would change; several only if ranks of items are rewritten. */
  dataOf(form: Row, state: Present, given: Given): readonly Row[];
  /** The carried values of the next state; of an ending aggregate, those of its last state. */
  carriedFrom(state: AggregateState): Row;
  readonly carries: boolean;
  readonly demandUploads: ReturnType<typeof demandOwnUploads>;
};

type Given = { readonly computed: Row; readonly context: Context };

export const draftOf = (kind: Kind, event: EventInfo): Draft => {
  const identity = kind.identity.map((name) => [name, wire(name, kind.fields[name])] as const);
  const carries = event.carries.map((name) => [name, wire(name, kind.fields[name])] as const);
  const content = event.content.map((name) => [name, wire(name, kind.fields[name])] as const);
  const computes = event.computes.map((name) => [name, wire(name, kind.fields[name])] as const);
  const constants = constantsIn(event.sets);
  const items = event.list === undefined ? undefined : itemDraftOf(kind, event);
  const isChange =
    event.effect === 'changes' || (event.effect === 'sets' && constants.length + computes.length > 0);
  const { one, defs } = ofEvent(kind, event);
  const [unheld, kept] = [demandUnheld(kind, event), demandKept(kind, event)];
  const dataOf: Draft['dataOf'] = (form, state, { computed, context }) => {
    const { fields } = state;
    demandDecided(one, defs, computed);
    if (!context.isErasedBefore) unheld?.(fields);
    kept?.(fields, context.at);
    const data: Record<string, unknown> = { [`${kind.name}Id`]: fields.id };
    for (const [name, key] of identity) data[key] = fields[name];
    if (items !== undefined)
      return items(form, state, { ...context, computed }).map((item) => ({ ...data, ...item }));
    let isChanged = !isChange || constants.some(([name, value]) => !areEqual(value, fields[name]));
    for (const [name, key] of content) {
      const value = form[key];
      const isSame = isChange && (value === undefined || areEqual(value, fields[name]));
      // An event of one field always contains it.
      if (isSame && content.length > 1) continue;
      data[key] = isSame ? fields[name] : value;
      isChanged ||= !isSame;
    }
    for (const [name, key] of computes) {
      if (computed[name] === undefined) throw new Error(`the decision on ${event.type} lacks ${name}`);
      data[key] = computed[name];
      isChanged ||= !areEqual(computed[name], fields[name]);
    }
    if (event.former !== undefined) data[event.former] = fields[kind.parent ?? ''];
    return isChanged ? [data] : [];
  };
  const carriedFrom = (state: AggregateState): Row =>
    state.status === 'absent'
      ? {}
      : Object.fromEntries(carries.map(([name, key]) => [key, state.fields[name]]));
  return {
    type: event.type,
    dataOf,
    carriedFrom,
    carries: carries.length > 0,
    demandUploads: demandOwnUploads(kind, event),
  };
};

/** The aggregate or the item to which an event gives values, and their fields. */
const ofEvent = (kind: Kind, { list }: EventInfo) =>
  list === undefined
    ? { one: kind.name, defs: kind.fields }
    : {
        one: oneOfList(kind, list),
        defs: { ...list.fields, ...(list.key !== undefined && { [list.key]: list.id.def }) },
      };

type Happening = {
  readonly state: AggregateState;
  readonly data: Row;
  readonly metadata: Happened['metadata'];
};

/** The event with its carried values, and the state after it. */
export const happen = (
  evolve: Evolve,
  draft: Draft,
  { state, data, metadata }: Happening,
): { readonly event: Happened; readonly after: AggregateState } => {
  const { type } = draft;
  const stamp = metadata && { metadata };
  // Carried values come from the former state until the next state is known.
  const next = evolve(state, { type, data: { ...draft.carriedFrom(state), ...data }, ...stamp });
  const from = next.status === 'present' ? next : state;
  const event: Happened = { type, data: { ...data, ...draft.carriedFrom(from) } };
  return { event, after: draft.carries ? evolve(state, { ...event, ...stamp }) : next };
};

type Defs = Readonly<Record<string, FieldDef | undefined>>;

/**
 * The limits of a field are a rule that no decision can break: the sum of two amounts may be too large, and no
 * form was wrong. A value of another type, which does not compile, is refused alike.
 */
const demandDecided = (one: string, defs: Defs, values: Row): void => {
  for (const [name, value] of Object.entries(values)) {
    const def = defs[name];
    if (def === undefined || value === undefined || (def.optional && value === null)) continue;
    const { error } = parsePlainly(def.recorded, value);
    if (error === undefined) continue;
    const [fault = 'Is not valid.'] = error.issues.map(({ message }) => message);
    const detail = `The command would give the ${spaced(one)} a wrong ${spaced(name)}. ${fault}`;
    throw new Rejection('invalid_command', { errors: [{ pointer: '', detail }] });
  }
};
