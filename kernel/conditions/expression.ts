// Over 200 lines, because it is one idea: the resolved form of conditions, and how authors’ words get it.

import { targetOf } from '../base/names.ts';
import { StartRefused } from '../base/start-refused.ts';
import { isUser } from '../base/users.ts';
import type { CommandInfo, Defs, Domain, Kind, ListInfo, Row } from '../registry/registry.ts';
import { demandBeside, demandComparable } from './comparison.ts';
import {
  type AskedField,
  type Bound,
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
  /** Compares with a field of the aggregate that has the condition, `up` references before this one. */
  | {
      readonly op: 'beside';
      readonly field: string;
      readonly by: 'is' | 'min' | 'max';
      readonly other: string;
      readonly up: number;
    }
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

/** The aggregate that a condition asks, and the one that has the condition, `up` references before it. */
type Place = {
  readonly domain: Domain;
  readonly kind: Kind;
  readonly subject: Kind;
  readonly up: number;
  /** A list, whose items are asked. */
  readonly list?: string;
};

/** Resolves an author’s condition against an aggregate. Refuses words without a meaning. */
export const resolve = (domain: Domain, kind: Kind, condition: unknown): Expression =>
  resolveAt({ domain, kind, subject: kind, up: 0 }, condition);

const resolveAt = (place: Place, condition: unknown): Expression => {
  if (typeof condition === 'boolean') return condition ? always : never;
  if (typeof condition === 'string') return declaredFact(place, condition);
  if (Array.isArray(condition)) return or(...condition.map((each) => resolveAt(place, each)));
  demandCondition(place.kind.name, condition);
  return and(...Object.entries(condition).map(([name, value]) => entryOf(place, name, value)));
};

/** A fact is a condition of its own aggregate. */
const declaredFact = ({ domain, kind }: Place, fact: string): Expression => {
  if (fact === 'caller' && isUser(kind)) return { op: 'caller', field: 'id' };
  if (fact === 'own' && kind.owner !== undefined) return { op: 'caller', field: kind.owner };
  if (!Object.hasOwn(kind.facts, fact))
    throw new StartRefused(
      `${kind.name} has no fact ${fact}: conditions can use ${Object.keys(kind.facts).join(', ') || 'none'}.`,
    );
  return resolve(domain, kind, kind.facts[fact]);
};

const entryOf = (place: Place, name: string, value: unknown): Expression => {
  const { kind } = place;
  const def = Object.hasOwn(kind.fields, name) ? kind.fields[name] : undefined;
  if (def !== undefined) return ofField(place, { place: kind.name, field: name, def }, value);
  const list = Object.hasOwn(kind.lists, name) ? kind.lists[name] : undefined;
  if (list !== undefined) return ofItems(place, list, value);
  demandFlag(kind, name, value);
  return value ? declaredFact(place, name) : negate(declaredFact(place, name));
};

const ofField = (place: Place, asked: AskedField, value: unknown): Expression => {
  const { domain } = place;
  const { field, def } = asked;
  const target = def.kind === 'ref' ? domain.kinds[targetOf(def)] : undefined;
  const attribute = attributeIn(target, value);
  if (attribute !== undefined) {
    demandAlone(asked, value as Row, 'caller');
    demandComparable(domain, asked.place, { field, def, attribute });
    return { op: 'callers', field, attribute };
  }
  return target === undefined || isOfReference(target, value)
    ? matches(asked, value, (by, other) => beside(place, asked, [by, other]))
    : ofTarget(place, target, { field, value });
};

const beside = (
  { subject, up, list }: Place,
  asked: AskedField,
  [by, other]: readonly ['is' | 'min' | 'max', unknown],
): Expression => {
  demandBeside({ asked, subject, list }, by, other);
  return { op: 'beside', field: asked.field, by, other, up };
};

type OfTarget = { readonly field: string; readonly value: unknown };
/** The caller is compared without the target, whose row is not needed for that. */
const ofTarget = (place: Place, target: Kind, { field, value }: OfTarget): Expression => {
  const isCaller: Expression = { op: 'caller', field };
  const behind = (condition: unknown): Expression =>
    at(field, target.name, resolveAt({ ...place, kind: target, up: place.up + 1 }, condition));
  if (!isUser(target)) return behind(value);
  if (value === 'caller') return isCaller;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'caller')) return behind(value);
  const { caller, ...others } = value as Row;
  demandFlag(target, 'caller', caller);
  const more = Object.keys(others).length > 0;
  return and(caller ? isCaller : negate(isCaller), ...(more ? [behind(others)] : []));
};

const ofItems = (place: Place, list: ListInfo, value: unknown): Expression => {
  const { kind } = place;
  const of = resolveAt(
    { ...place, kind: itemOf(kind, list), list: list.name },
    someOf(kind.name, list, value),
  );
  return { op: 'some', field: list.name, of };
};
const itemOf = (kind: Kind, list: ListInfo): Kind => ({
  ...kind,
  ...{ name: `${kind.name}.${list.name}`, fields: fieldsOfItem(list) },
  ...{ lists: {}, facts: {}, owner: undefined },
});
/** Resolves a condition on one item of a list, which compares fields of the item with each other. */
export const resolveOnItem = (domain: Domain, kind: Kind, list: ListInfo, condition: unknown): Expression =>
  resolve(domain, itemOf(kind, list), condition);
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
  ['not', 'field'].some((word) => isWordOf(target, value, word));
/** A target may have a field or a fact of this name. */
const isWordOf = (target: Kind, value: unknown, word: string): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.hasOwn(value, word) &&
  ![target.fields, target.lists, target.facts].some((names) => Object.hasOwn(names, word));
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
/** Compares with a field: `{ field: 'startsAt' }` in place of a value. */
type Beside = (by: 'is' | 'min' | 'max', other: unknown) => Expression;
const ONLY_VALUES: Beside = () => {
  throw new StartRefused('A right to items compares their fields with constants only: use values.');
};

const matches = (asked: AskedField, value: unknown, beside: Beside = ONLY_VALUES): Expression => {
  const { field } = asked;
  if (Array.isArray(value)) return or(...value.map((each) => is(asked, each)));
  if (typeof value !== 'object' || value === null) return is(asked, value);
  if (Object.hasOwn(value, 'field')) {
    demandAlone(asked, value as Row, 'field');
    return beside('is', (value as Row).field);
  }
  const { not, min, max } = demandComparison(asked, value as Row);
  const bound = (op: 'min' | 'max', than: Bound): Expression =>
    typeof than === 'object' ? beside(op, than.field) : { op, field, than };
  return and(
    ...(not === undefined ? [] : [negate(matches(asked, not, beside))]),
    ...(min === undefined ? [] : [bound('min', min)]),
    ...(max === undefined ? [] : [bound('max', max)]),
  );
};
const is = (asked: AskedField, value: unknown): Expression => ({
  op: 'is',
  field: asked.field,
  value: demandValue(asked, value),
});
