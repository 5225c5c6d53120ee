import { targetOf } from '../base/names.ts';
import { StartRefused } from '../base/start-refused.ts';
import type { CommandInfo, Defs, Domain, Kind, ListInfo, Row } from '../registry/registry.ts';
import { demandComparable } from './comparison.ts';
import {
  type AskedField,
  demandAlone,
  demandComparison,
  demandCondition,
  demandField,
  demandFlag,
  demandValue,
  someOf,
} from './demand-condition.ts';

/**
 * A resolved condition: the one form that is evaluated in memory, in SQL and on events. docs/conditions.md
 * defines the meaning of each part for null values and for references to absent aggregates.
 */
export type Expression =
  | { readonly op: 'const'; readonly value: boolean }
  | { readonly op: 'and' | 'or'; readonly of: readonly Expression[] }
  | { readonly op: 'not'; readonly of: Expression }
  | { readonly op: 'is'; readonly field: string; readonly value: string | number | boolean | null }
  | { readonly op: 'min' | 'max'; readonly field: string; readonly than: number | string }
  | { readonly op: 'caller'; readonly field: string }
  | { readonly op: 'callers'; readonly field: string; readonly attribute: string }
  | { readonly op: 'at'; readonly field: string; readonly kind: string; readonly of: Expression }
  | { readonly op: 'some'; readonly field: string; readonly of: Expression };

export const always = { op: 'const', value: true } as const;
export const never = { op: 'const', value: false } as const;

export const and = (...of: readonly Expression[]): Expression => {
  const left = of
    .flatMap((each) => (each.op === 'and' ? each.of : [each]))
    .filter((each) => !(each.op === 'const' && each.value));
  if (left.some((each) => each.op === 'const')) return never;
  return left.length > 1 ? { op: 'and', of: left } : (left[0] ?? always);
};
export const or = (...of: readonly Expression[]): Expression => {
  const left = of
    .flatMap((each) => (each.op === 'or' ? each.of : [each]))
    .filter((each) => each.op !== 'const' || each.value);
  if (left.some((each) => each.op === 'const')) return always;
  const different = [...new Map(left.map((each) => [JSON.stringify(each), each])).values()];
  return different.length > 1 ? { op: 'or', of: different } : (different[0] ?? never);
};
export const negate = (of: Expression): Expression =>
  of.op === 'const' ? (of.value ? never : always) : { op: 'not', of };
/**
 * A condition on the target of a reference. Alternatives become separate conditions, so that each can be
 * granted separately.
 */
export const at = (field: string, kind: string, of: Expression): Expression =>
  of.op === 'or'
    ? or(...of.of.map((each) => at(field, kind, each)))
    : of.op === 'const' && !of.value
      ? never
      : { op: 'at', field, kind, of };

/** Resolves an author’s condition against an aggregate. Refuses words without a meaning. */
export const resolve = (domain: Domain, kind: Kind, condition: unknown): Expression => {
  if (typeof condition === 'boolean') return condition ? always : never;
  if (typeof condition === 'string') return declaredFact(domain, kind, condition);
  if (Array.isArray(condition)) return or(...condition.map((each) => resolve(domain, kind, each)));
  demandCondition(kind.name, condition);
  return and(...Object.entries(condition).map(([name, value]) => entryOf(domain, kind, name, value)));
};

const declaredFact = (domain: Domain, kind: Kind, fact: string): Expression => {
  if (fact === 'caller' && kind.name === 'user') return { op: 'caller', field: 'id' };
  if (fact === 'own' && kind.owner !== undefined) return { op: 'caller', field: kind.owner };
  if (!Object.hasOwn(kind.facts, fact))
    throw new StartRefused(
      `${kind.name} has no fact ${fact}: conditions can use ${Object.keys(kind.facts).join(', ') || 'none'}.`,
    );
  return resolve(domain, kind, kind.facts[fact]);
};

const entryOf = (domain: Domain, kind: Kind, name: string, value: unknown): Expression => {
  const def = Object.hasOwn(kind.fields, name) ? kind.fields[name] : undefined;
  if (def !== undefined) return ofField(domain, { place: kind.name, field: name, def }, value);
  const list = Object.hasOwn(kind.lists, name) ? kind.lists[name] : undefined;
  if (list !== undefined) return ofItems(domain, kind, list, value);
  demandFlag(kind, name, value);
  return value ? declaredFact(domain, kind, name) : negate(declaredFact(domain, kind, name));
};

const ofField = (domain: Domain, asked: AskedField, value: unknown): Expression => {
  const { place, field, def } = asked;
  const target = def.kind === 'ref' ? domain.kinds[targetOf(def)] : undefined;
  const attribute = attributeIn(target, value);
  if (attribute !== undefined) {
    demandAlone(asked, value as Row, 'caller');
    demandComparable(domain, place, { field, def, attribute });
    return { op: 'callers', field, attribute };
  }
  return target === undefined || isOfReference(target, value)
    ? matches(asked, value)
    : ofTarget(domain, target, { field, value });
};

type OfTarget = { readonly field: string; readonly value: unknown };
/** The caller is compared without the target, whose row is not needed for that. */
const ofTarget = (domain: Domain, target: Kind, { field, value }: OfTarget): Expression => {
  const isCaller: Expression = { op: 'caller', field };
  if (target.name !== 'user') return at(field, target.name, resolve(domain, target, value));
  if (value === 'caller') return isCaller;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'caller'))
    return at(field, target.name, resolve(domain, target, value));
  const { caller, ...others } = value as Row;
  demandFlag(target, 'caller', caller);
  const more = Object.keys(others).length > 0;
  return and(
    caller ? isCaller : negate(isCaller),
    ...(more ? [at(field, target.name, resolve(domain, target, others))] : []),
  );
};

const ofItems = (domain: Domain, kind: Kind, list: ListInfo, value: unknown): Expression => ({
  op: 'some',
  field: list.name,
  of: resolveOnItem(domain, kind, list, someOf(kind.name, list, value)),
});
/** Resolves a condition on one item of a list. */
export const resolveOnItem = (domain: Domain, kind: Kind, list: ListInfo, condition: unknown): Expression => {
  const place = `${kind.name}.${list.name}`;
  const item = { ...kind, name: place, fields: fieldsOfItem(list), lists: {}, facts: {}, owner: undefined };
  return resolve(domain, item, condition);
};
/** The condition of a command on the item that it changes. */
export const conditionOnItem = (domain: Domain, kind: Kind, { list, whenItem }: CommandInfo): Expression =>
  list === undefined || whenItem === undefined ? always : resolveOnItem(domain, kind, list, whenItem);
/** The caller’s field that a condition compares with: `{ caller: 'department' }`. */
const attributeIn = (target: Kind | undefined, value: unknown): string | undefined => {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'caller')) return undefined;
  const { caller } = value as Row;
  return typeof caller === 'string' && target?.fields.caller === undefined ? caller : undefined;
};
/** The reference itself is compared, and not its target. */
const isOfReference = (target: Kind, value: unknown): boolean =>
  value === null ||
  typeof value === 'number' ||
  (typeof value === 'object' &&
    Object.hasOwn(value, 'not') &&
    !Object.hasOwn(target.fields, 'not') &&
    !Object.hasOwn(target.facts, 'not'));
/** The fields of an item, including its key. */
export const fieldsOfItem = ({ fields, key, id }: ListInfo): Defs => ({
  ...(key !== undefined && { [key]: id.def }),
  ...fields,
});
/** A condition on values of fields of items, which resolves without a domain. */
export const matching = (place: string, fields: Defs, values: Row): Expression =>
  and(
    ...Object.entries(values).map(([field, value]) =>
      matches({ place, field, def: demandField(place, fields, field) }, value),
    ),
  );
const matches = (asked: AskedField, value: unknown): Expression => {
  const { field } = asked;
  if (Array.isArray(value)) return or(...value.map((each) => is(asked, each)));
  if (typeof value !== 'object' || value === null) return is(asked, value);
  const { not, min, max } = demandComparison(asked, value as Row);
  return and(
    ...(not === undefined ? [] : [negate(matches(asked, not))]),
    ...(min === undefined ? [] : [{ op: 'min' as const, field, than: min }]),
    ...(max === undefined ? [] : [{ op: 'max' as const, field, than: max }]),
  );
};
const is = (asked: AskedField, value: unknown): Expression => ({
  op: 'is',
  field: asked.field,
  value: demandValue(asked, value),
});
