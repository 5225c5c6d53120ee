import { spaced, targetOf } from '../base/names.ts';
import { deleted, isNot, notFound, Rejection } from '../base/rejection.ts';
import { resolve, resolveOnItem } from '../conditions/expression.ts';
import { type Attributes, type Find, type Holds, holdsOf } from '../conditions/holds.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { CommandInfo, Domain, Kind, ListInfo, Refusal, Row } from '../registry/registry.ts';
import { oneOfList } from './items.ts';
import { ABSENT, type AggregateState } from './state.ts';

/** Returns the state of a reference’s target, as read just before the decision. */
export type Look = (kind: string, id: unknown) => AggregateState;
/** The caller, the time, and the other aggregates that the decision can see. */
export type Context = {
  readonly callerId: number | null;
  /** The caller’s own fields that conditions compare. */
  readonly own?: Attributes | undefined;
  readonly at: string;
  readonly look: Look;
  /** An erasure that the log has lost is repeated, whatever it says of holds since. */
  readonly isErasedBefore?: true | undefined;
};

export const lookNowhere: Look = () => ABSENT;

/** For conditions: an aggregate that never existed satisfies none. */
export const findBy =
  (look: Look): Find =>
  (kind, id) => {
    const state = look(kind, id);
    return state.status === 'absent' ? undefined : state.fields;
  };

type Guard = (fields: Row, context: Context) => void;
type Part = { readonly holds: Holds; readonly refuse: (fields: Row, look: Look) => Refusal };

export const rejection = ({ code, says }: Refusal): Rejection => new Rejection(code, {}, { says });

/** Refuses a command unless its condition holds; each part of the condition has its own refusal. */
export const guardOf = (domain: Domain, kind: Kind, when: unknown): Guard => {
  const parts: readonly Part[] = conditionsIn(when).map((condition) => ({
    holds: holdsOf(resolve(domain, kind, condition)),
    refuse: refusing(domain, kind, condition),
  }));
  return (fields, { callerId, own, look, isErasedBefore }) => {
    if (isErasedBefore) return;
    const find = findBy(look);
    for (const { holds, refuse } of parts)
      if (!holds(fields, callerId, find, own)) throw rejection(refuse(fields, look));
  };
};

/** Refuses a command to an item unless its condition on the item holds; an absent item is refused elsewhere. */
export const itemGuardOf = (domain: Domain, kind: Kind, command: CommandInfo): ItemGuard => {
  const { list, whenItem } = command;
  if (list === undefined || whenItem === undefined) return () => undefined;
  const parts = Object.entries(whenItem as Row).map(([name, value]) => ({
    holds: holdsOf(resolveOnItem(domain, kind, list, { [name]: value })),
    refusal: refusalOnItem(kind, list, [name, value]),
  }));
  return (form, fields, { callerId, own }) => {
    const item = ((fields[list.name] ?? []) as readonly Row[]).find(({ id }) => id === form[list.id.name]);
    if (item === undefined) return;
    for (const { holds, refusal } of parts)
      if (!holds(item, callerId, () => undefined, own)) throw rejection(refusal);
  };
};
type ItemGuard = (form: Row, fields: Row, context: Context) => void;

/** `ticket_task_not_todo` for a word, and `ticket_task_not_ready` for any other condition. */
const refusalOnItem = (kind: Kind, list: ListInfo, [name, value]: readonly [string, unknown]): Refusal => {
  const isWord = typeof value === 'string' && list.fields[name]?.values !== undefined;
  return { code: isNot(oneOfList(kind, list), isWord ? value : 'ready') };
};

/** The refusals that the condition of a command on its item can cause. */
export const refusalsOnItem = (kind: Kind, { list, whenItem }: CommandInfo): readonly Refusal[] =>
  list === undefined || whenItem === undefined
    ? []
    : Object.entries(whenItem as Row).map((entry) => refusalOnItem(kind, list, entry));

/**
 * The refusal of a command that begins an aggregate or an item, if its decision returns nothing: there would be
 * no id to respond with.
 */
export const refusalsOfNothing = (
  kind: Kind,
  { kind: does, list, decide }: CommandInfo,
): readonly Refusal[] => {
  if (decide === undefined) return [];
  if (does === 'create')
    return [{ code: isNot(kind.name, 'created'), says: `The ${spaced(kind.name)} was not created.` }];
  if (does !== 'addItem' || list === undefined) return [];
  const one = oneOfList(kind, list);
  return [{ code: isNot(one, 'added'), says: `The ${spaced(one)} was not added.` }];
};

/** The refusals that the condition of a command can cause. */
export const refusalsOf = (domain: Domain, kind: Kind, when: unknown): readonly Refusal[] =>
  conditionsIn(when).flatMap((condition) => refusalsIn(domain, kind, condition));

/**
 * Refuses a command whose result would violate the invariant, with the refusal of its fact or the name of the
 * invariant.
 */
export const invariantOf = (
  domain: Domain,
  kind: Kind,
  { name, condition }: { readonly name: string; readonly condition: unknown },
): Guard => {
  const holds = holdsOf(resolve(domain, kind, condition));
  const refusal = refusalOfInvariant(kind, [name, condition]);
  return (fields, { callerId, own, look }) => {
    if (!holds(fields, callerId, findBy(look), own)) throw rejection(refusal);
  };
};

export const refusalOfInvariant = (kind: Kind, [name, condition]: readonly [string, unknown]): Refusal =>
  (typeof condition === 'string' ? kind.refusals[condition] : undefined) ?? { code: isNot(kind.name, name) };

/** The refusals that have a sentence of their own: those of facts, limits and decisions. */
export const declaredRefusalsOf = (kind: Kind): readonly Refusal[] => [
  ...Object.values(kind.refusals),
  ...kind.limits.map(({ refusal }) => refusal),
  ...Object.values(kind.commands).flatMap((command) => [
    ...Object.values(command.refuses),
    ...refusalsOfNothing(kind, command),
  ]),
];

type Asked = string | Row | readonly unknown[];
/** The parts of a condition, all of which must hold. */
const conditionsIn = (when: unknown): readonly Asked[] => {
  if (when === undefined) return [];
  if (typeof when === 'string' || Array.isArray(when)) return [when];
  return Object.entries(when as Row).map(([name, value]) => ({ [name]: value }));
};

const refusalOf = (kind: Kind, fact: string): Refusal =>
  kind.refusals[fact] ?? { code: isNot(kind.name, fact) };

/** A single refusal; for a reference, those of a target that is absent, deleted, or fails the condition. */
const refusalsIn = (domain: Domain, kind: Kind, condition: Asked): readonly Refusal[] => {
  if (typeof condition === 'string') return [refusalOf(kind, condition)];
  const [[name, value] = ['', undefined], ...others] = Object.entries(condition);
  const def = kind.fields[name];
  const target = def?.kind === 'ref' ? domain.kinds[targetOf(def)] : undefined;
  if (target && typeof value === 'string' && value !== 'caller')
    return [{ code: notFound(target.name) }, { code: deleted(target.name) }, refusalOf(target, value)];
  const isFact = value === true && others.length === 0 && !Array.isArray(condition);
  return [isFact ? refusalOf(kind, name) : { code: isNot(kind.name, 'ready') }];
};

const refusing = (domain: Domain, kind: Kind, condition: Asked): Part['refuse'] => {
  const [first, ended, other] = refusalsIn(domain, kind, condition) as readonly [Refusal, ...Refusal[]];
  if (ended === undefined || other === undefined) return () => first;
  const [name = ''] = Object.keys(condition);
  const target = targetOf(kind.fields[name] as FieldDef);
  return (fields, look) => {
    const { status } = look(target, fields[name]);
    if (status === 'absent') return first;
    return status === 'ended' ? ended : other;
  };
};
