import { Rejection, type RejectionCode } from '#shared/rejection.ts';
import { type Expression, resolve } from '../conditions/expression.ts';
import { type Find, holds } from '../conditions/holds.ts';
import type { FieldDef } from '../declare/fields.ts';
import { targetOf } from '../registry/names.ts';
import type { Domain, Kind, Row } from '../registry/registry.ts';
import { ABSENT, type AggregateState } from './evolve.ts';

/** The states of what references lead to, as they were seen just before. */
export type Look = (kind: string, id: unknown) => AggregateState;
/** Who decides, when, and what is seen of others. */
export type Context = { readonly callerId: number | null; readonly at: string; readonly look: Look };

export const lookNowhere: Look = () => ABSENT;

/** As conditions ask: what was never there, nothing is true of. */
export const findBy =
  (look: Look): Find =>
  (kind, id) => {
    const state = look(kind, id);
    return state.status === 'absent' ? undefined : state.fields;
  };

export type Guard = (fields: Row, context: Context) => void;
type Part = { readonly must: Expression; readonly refuse: (fields: Row, look: Look) => RejectionCode };

/** Refuses what a command does not fit; each part of the condition has a refusal of its own, named after it. */
export const guardOf = (domain: Domain, kind: Kind, when: unknown): Guard => {
  const parts = partsOf(domain, kind, when);
  return (fields, { callerId, look }) => {
    const find = findBy(look);
    for (const { must, refuse } of parts) if (!holds(must, fields, callerId, find)) throw new Rejection(refuse(fields, look));
  };
};

/** With which codes a command is refused for what is there. */
export const refusalsOf = (kind: Kind, when: unknown): readonly RejectionCode[] =>
  conditionsIn(when).flatMap((condition) => codesOf(kind, condition));

/** Refuses what a command would leave behind, by the name of the invariant. */
export const invariantOf = (
  domain: Domain,
  kind: Kind,
  { name, condition }: { readonly name: string; readonly condition: unknown },
): Guard => {
  const must = resolve(domain, kind, condition);
  return (fields, { callerId, look }) => {
    if (!holds(must, fields, callerId, findBy(look))) throw new Rejection(`${kind.name}_not_${name}`);
  };
};

const partsOf = (domain: Domain, kind: Kind, when: unknown): readonly Part[] =>
  conditionsIn(when).map((condition) => ({ must: resolve(domain, kind, condition), refuse: refusalOf(kind, condition) }));

/** All of which must be true, each for itself. */
const conditionsIn = (when: unknown): readonly Asked[] => {
  if (when === undefined) return [];
  if (typeof when === 'string' || Array.isArray(when)) return [when];
  return Object.entries(when as Row).map(([name, value]) => ({ [name]: value }));
};
type Asked = string | Row | readonly unknown[];

/** One, or of what a reference leads to: that it is not there, was deleted, and is not as it must be. */
const codesOf = (kind: Kind, condition: Asked): readonly RejectionCode[] => {
  if (typeof condition === 'string') return [`${kind.name}_not_${condition}`];
  const [name = '', value] = Object.entries(condition)[0] ?? [];
  const def = kind.fields[name];
  if (def?.kind !== 'ref' || typeof value !== 'string')
    return [value === true && !Array.isArray(condition) ? `${kind.name}_not_${name}` : `${kind.name}_not_ready`];
  const target = targetOf(def);
  return [`${target}_not_found`, `${target}_deleted`, `${target}_not_${value}`];
};

const refusalOf = (kind: Kind, condition: Asked): Part['refuse'] => {
  const [first, deleted, other] = codesOf(kind, condition) as readonly [RejectionCode, ...RejectionCode[]];
  if (deleted === undefined || other === undefined) return () => first;
  const [name = ''] = Object.keys(condition);
  const target = targetOf(kind.fields[name] as FieldDef);
  return (fields, look) => {
    const { status } = look(target, fields[name]);
    if (status === 'absent') return first;
    return status === 'ended' ? deleted : other;
  };
};
