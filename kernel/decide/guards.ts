import { deleted, isNot, notFound, Rejection } from '#shared/rejection.ts';
import { resolve } from '../conditions/expression.ts';
import { type Attributes, type Find, type Holds, holdsOf } from '../conditions/holds.ts';
import type { FieldDef } from '../declare/fields.ts';
import { targetOf } from '../registry/names.ts';
import type { Domain, Kind, Refusal, Row } from '../registry/registry.ts';
import { ABSENT, type AggregateState } from './state.ts';

/** The states of what references lead to, as they were seen just before. */
export type Look = (kind: string, id: unknown) => AggregateState;
/** Who decides, when, and what is seen of others. */
export type Context = {
  readonly callerId: number | null;
  /** The caller’s own fields, as far as conditions ask for them. */
  readonly own?: Attributes | undefined;
  readonly at: string;
  readonly look: Look;
};

export const lookNowhere: Look = () => ABSENT;

/** As conditions ask: what was never there, nothing is true of. */
export const findBy =
  (look: Look): Find =>
  (kind, id) => {
    const state = look(kind, id);
    return state.status === 'absent' ? undefined : state.fields;
  };

export type Guard = (fields: Row, context: Context) => void;
type Part = { readonly holds: Holds; readonly refuse: (fields: Row, look: Look) => Refusal };

const rejection = ({ code, says }: Refusal): Rejection => new Rejection(code, {}, { says });

/** Refuses what a command does not fit; each part of the condition has a refusal of its own. */
export const guardOf = (domain: Domain, kind: Kind, when: unknown): Guard => {
  const parts: readonly Part[] = conditionsIn(when).map((condition) => ({
    holds: holdsOf(resolve(domain, kind, condition)),
    refuse: refusing(domain, kind, condition),
  }));
  return (fields, { callerId, own, look }) => {
    const find = findBy(look);
    for (const { holds, refuse } of parts)
      if (!holds(fields, callerId, find, own)) throw rejection(refuse(fields, look));
  };
};

/** By what a command is refused that does not fit what is there. */
export const refusalsOf = (domain: Domain, kind: Kind, when: unknown): readonly Refusal[] =>
  conditionsIn(when).flatMap((condition) => refusalsIn(domain, kind, condition));

/** Refuses what a command would leave behind, as its fact says, or by the name of the invariant. */
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

type Asked = string | Row | readonly unknown[];
/** All of which must be true, each for itself. */
const conditionsIn = (when: unknown): readonly Asked[] => {
  if (when === undefined) return [];
  if (typeof when === 'string' || Array.isArray(when)) return [when];
  return Object.entries(when as Row).map(([name, value]) => ({ [name]: value }));
};

const refusalOf = (kind: Kind, fact: string): Refusal =>
  kind.refusals[fact] ?? { code: isNot(kind.name, fact) };

/** One; or of what a reference leads to: that it is not there, was deleted, and is not as it must be. */
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
