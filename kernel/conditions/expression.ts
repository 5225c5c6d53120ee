import { StartRefused } from '#shared/process/start-refused.ts';
import type { FieldDef } from '../declare/fields.ts';
import { targetOf } from '../registry/names.ts';
import type { Defs, Domain, Kind, ListInfo, Row } from '../registry/registry.ts';
import { demandComparable } from './comparison.ts';

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
  of.op === 'const' ? { op: 'const', value: !of.value } : { op: 'not', of };
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

/** Resolves an author’s condition against an aggregate. */
export const resolve = (domain: Domain, kind: Kind, condition: unknown): Expression => {
  if (typeof condition === 'boolean') return condition ? always : never;
  if (typeof condition === 'string') return factOf(domain, kind, condition);
  if (Array.isArray(condition)) return or(...condition.map((each) => resolve(domain, kind, each)));
  return and(...Object.entries(condition as Row).map(([name, value]) => entryOf(domain, kind, name, value)));
};

const factOf = (domain: Domain, kind: Kind, fact: string): Expression => {
  if (fact === 'caller' && kind.name === 'user') return { op: 'caller', field: 'id' };
  if (fact === 'own' && kind.owner !== undefined) return { op: 'caller', field: kind.owner };
  if (!(fact in kind.facts))
    throw new StartRefused(
      `${kind.name} has no fact ${fact}: conditions can use ${Object.keys(kind.facts).join(', ') || 'none'}.`,
    );
  return resolve(domain, kind, kind.facts[fact]);
};

const entryOf = (domain: Domain, kind: Kind, name: string, value: unknown): Expression => {
  if (typeof value === 'boolean' && !(name in kind.fields))
    return value ? factOf(domain, kind, name) : negate(factOf(domain, kind, name));
  const def = kind.fields[name];
  const attribute = attributeIn(domain, def, value);
  if (def !== undefined && attribute !== undefined) {
    demandComparable(domain, kind.name, { field: name, def, attribute });
    return { op: 'callers', field: name, attribute };
  }
  if (def?.kind === 'ref' && value !== null && typeof value !== 'number' && !isOther(value)) {
    const target = domain.kinds[targetOf(def)] as Kind;
    if (target.name === 'user' && value === 'caller') return { op: 'caller', field: name };
    if (target.name === 'user' && typeof value === 'object' && 'caller' in value) {
      const isCaller: Expression = { op: 'caller', field: name };
      return value.caller === true ? isCaller : negate(isCaller);
    }
    return at(name, target.name, resolve(domain, target, value));
  }
  const list = kind.lists[name];
  if (list !== undefined) {
    const item = {
      ...kind,
      name: `${kind.name}.${name}`,
      fields: fieldsOfItem(list),
      facts: {},
      owner: undefined,
    };
    return { op: 'some', field: name, of: resolve(domain, item, (value as { some: unknown }).some) };
  }
  return matches(name, value);
};
/** The caller’s field that a condition compares with: `{ caller: 'department' }`. */
const attributeIn = (domain: Domain, def: FieldDef | undefined, value: unknown): string | undefined => {
  if (def === undefined || typeof value !== 'object' || value === null || !('caller' in value))
    return undefined;
  const target = def.kind === 'ref' ? domain.kinds[targetOf(def)] : undefined;
  return typeof value.caller === 'string' && target?.fields.caller === undefined ? value.caller : undefined;
};
/** The fields of an item, including its key. */
export const fieldsOfItem = ({ fields, key, id }: ListInfo): Defs => ({
  ...(key !== undefined && { [key]: id.def }),
  ...fields,
});
const isOther = (value: unknown): boolean => typeof value === 'object' && value !== null && 'not' in value;
/** A condition on values of fields only, which resolves without a domain. */
export const matching = (values: Row): Expression =>
  and(...Object.entries(values).map(([field, value]) => matches(field, value)));
const matches = (field: string, value: unknown): Expression => {
  if (Array.isArray(value)) return or(...value.map((each): Expression => ({ op: 'is', field, value: each })));
  if (typeof value !== 'object' || value === null) return { op: 'is', field, value: value as string | null };
  if ('not' in value) return negate(matches(field, value.not));
  if ('min' in value) return { op: 'min', field, than: value.min as number };
  return { op: 'max', field, than: (value as unknown as { max: number }).max };
};

/**
 * Simplifies a condition for a known value of a field. Lists are split into parts by this; one index holds
 * each part in order.
 */
export const knowing = (expression: Expression, field: string, value: unknown): Expression => {
  switch (expression.op) {
    case 'is':
      return expression.field === field ? (expression.value === value ? always : never) : expression;
    case 'and':
      return and(...expression.of.map((each) => knowing(each, field, value)));
    case 'or':
      return or(...expression.of.map((each) => knowing(each, field, value)));
    case 'not':
      return negate(knowing(expression.of, field, value));
    default:
      return expression;
  }
};

/** A field or list that a condition reads, with the references that lead to it. */
export type FactAt = { readonly field: string; readonly path: readonly string[] };

/** The facts that a condition depends on. */
export const factsIn = (expression: Expression, path: readonly string[] = []): readonly FactAt[] => {
  switch (expression.op) {
    case 'and':
    case 'or':
      return expression.of.flatMap((each) => factsIn(each, path));
    case 'not':
      return factsIn(expression.of, path);
    case 'at':
      return factsIn(expression.of, [...path, expression.field]);
    case 'const':
      return [];
    default:
      return [{ field: expression.field, path }];
  }
};

/** The fields that a condition compares with the id of the caller. */
export const callersIn = (expression: Expression, path: readonly string[] = []): readonly FactAt[] => {
  switch (expression.op) {
    case 'and':
    case 'or':
      return expression.of.flatMap((each) => callersIn(each, path));
    case 'not':
      return callersIn(expression.of, path);
    case 'at':
      return callersIn(expression.of, [...path, expression.field]);
    case 'some':
      return callersIn(expression.of, [...path, expression.field]);
    case 'caller':
      return [{ field: expression.field, path }];
    default:
      return [];
  }
};
