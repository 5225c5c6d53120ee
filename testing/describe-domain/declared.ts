import { targetOf } from '#kernel/base/names.ts';
import { isUser } from '#kernel/base/users.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import type { Domain, Kind, ListInfo, Row } from '#kernel/registry/registry.ts';

/**
 * An independent evaluation of rights, word for word as docs/conditions.md has it and without any code of the
 * kernel. The suites compare the behaviour of the installation with it.
 */
export type Asking = {
  readonly domain: Domain;
  readonly role: string;
  readonly callerId: number | null;
  /** False for a service. */
  readonly isPerson?: boolean;
  /** The aggregate that has the condition, if it is not the asked one. */
  readonly subject?: Row;
  /** Returns the present row. */
  find(kind: string, id: unknown): Row | undefined;
};

/** A condition in a form that this evaluation does not support yet. */
export class UnknownCondition extends Error {}

/** Whether rights allow somebody to do something with an aggregate. */
export const mayAs = (asking: Asking, kind: Kind, name: string, state: Row): boolean => {
  const row = rowOf(kind, name);
  const { role } = asking;
  if (typeof row.as === 'string') {
    const own = ownCell(row, role);
    if (own !== undefined) return isTrue(asking, kind, own, state);
    const target = targetKind(asking.domain, kind.fields[row.as]);
    if (target && mayAll(asking.domain, target, name === 'read' ? 'read' : 'write', role)) return true;
    const found = target && asking.find(target.name, state[row.as]);
    return (
      found !== undefined &&
      target !== undefined &&
      mayAs(asking, target, name === 'read' ? 'read' : 'write', found)
    );
  }
  return isTrue(asking, kind, cellOf(row, role), state);
};

/** Whether a role may do it with every aggregate: then it may do it with those that refer to none, too. */
const mayAll = (domain: Domain, kind: Kind, name: string, role: string): boolean => {
  const row = rowOf(kind, name);
  if (typeof row.as !== 'string') return cellOf(row, role) === true;
  const own = ownCell(row, role);
  if (own !== undefined) return own === true;
  const target = targetKind(domain, kind.fields[row.as]);
  return target !== undefined && mayAll(domain, target, name === 'read' ? 'read' : 'write', role);
};

/** Whether a role may do it with any aggregate at all. */
export const mayEver = (domain: Domain, kind: Kind, name: string, role: string): boolean => {
  const row = rowOf(kind, name);
  if (typeof row.as !== 'string') return cellOf(row, role) !== false;
  const own = ownCell(row, role);
  if (own !== undefined) return own !== false;
  const target = targetKind(domain, kind.fields[row.as]);
  return target !== undefined && mayEver(domain, target, name === 'read' ? 'read' : 'write', role);
};

/** Whether somebody may read the aggregate and this part of it. */
export const mayReadPart = (asking: Asking, kind: Kind, part: string, state: Row): boolean =>
  mayAs(asking, kind, 'read', state) &&
  isTrue(asking, kind, cellOf(kind.fieldRights[part] ?? {}, asking.role), state);

/** Whether a role may read this part of any aggregate at all. */
export const mayEverReadPart = (kind: Kind, part: string, role: string): boolean =>
  cellOf(kind.fieldRights[part] ?? {}, role) !== false;

/** The rights to parts, each with its fields and lists, and the condition on the items of some. */
export const partsOf = ({ fieldRights }: Kind) =>
  Object.entries(fieldRights).flatMap(([name, { reads, items }]) =>
    reads === undefined && items === undefined
      ? []
      : [
          {
            name,
            reads: (reads ?? []) as readonly string[],
            items: (items ?? {}) as Readonly<Record<string, Row>>,
          },
        ],
  );

/** Whether only the holders of a part right may read the item. */
export const isHidden = (where: Row, item: Row): boolean =>
  Object.entries(where).every(([name, value]) => isValue(item[name] ?? null, value));

const rowOf = (kind: Kind, name: string): Row =>
  kind.rights[name] ?? (OF_THEIR_OWN.has(name) ? {} : (kind.rights.write ?? {}));
const OF_THEIR_OWN: ReadonlySet<string> = new Set(['read', 'forOthers', 'readers']);

const cellOf = (row: Row, role: string): unknown => {
  if (row[role] !== undefined) return row[role];
  if (role === 'admin') return true;
  return (role === 'anonymous' ? row.anyone : (row.signedIn ?? row.anyone)) ?? false;
};

/** The exception of a role from a right that is otherwise copied from another. */
const ownCell = (row: Row, role: string): unknown =>
  row[role] ?? (role === 'anonymous' || role === 'admin' ? undefined : row.signedIn);

const targetKind = (domain: Domain, def: FieldDef | undefined): Kind | undefined =>
  def && domain.kinds[targetOf(def)];

const isTrue = (asking: Asking, kind: Kind, condition: unknown, state: Row): boolean => {
  const { subject = state } = asking;
  if (typeof condition === 'boolean') return condition;
  if (typeof condition === 'string') return isFact(asking, kind, condition, state);
  if (Array.isArray(condition))
    return condition.some((each) => isTrue({ ...asking, subject }, kind, each, state));
  return Object.entries(condition as Row).every(([name, value]) =>
    isEntry({ ...asking, subject }, kind, [name, settled(value, subject)], state),
  );
};

const isFact = (asking: Asking, kind: Kind, word: string, state: Row): boolean => {
  const { callerId } = asking;
  if (word === 'own') return callerId !== null && kind.owner !== undefined && state[kind.owner] === callerId;
  if (word === 'caller') return callerId !== null && state.id === callerId;
  if (word in kind.facts) return isTrue({ ...asking, subject: state }, kind, kind.facts[word], state);
  const [field] = Object.entries(kind.fields).find(([, { values = [] }]) => values.includes(word)) ?? [];
  if (field === undefined) throw new UnknownCondition(`${kind.name}: ${word}`);
  return state[field] === word;
};

const isEntry = (
  asking: Asking,
  kind: Kind,
  [name, value]: readonly [string, unknown],
  state: Row,
): boolean => {
  const list = kind.lists[name];
  if (list !== undefined) return isOfSome(asking, kind, { list, items: state[name], wanted: value });
  const def = kind.fields[name];
  if (def === undefined) {
    if (typeof value !== 'boolean') throw new UnknownCondition(`${kind.name}: ${name}`);
    return isFact(asking, kind, name, state) === value;
  }
  // The test users of this suite have no such values.
  if (isOfCaller(value)) throw new UnknownCondition(`${kind.name}: ${name} of the caller`);
  const target = targetKind(asking.domain, def);
  if (value === null || target === undefined || typeof value === 'number' || isOfReference(value))
    return isValue(state[name] ?? null, value);
  if (isUser(target) && value === 'caller')
    return asking.callerId !== null && state[name] === asking.callerId;
  if (isUser(target) && typeof value === 'object' && 'caller' in value)
    return (asking.callerId !== null && state[name] === asking.callerId) === value.caller;
  const found = asking.find(target.name, state[name]);
  return found !== undefined && isTrue(asking, target, value, found);
};

const isOfCaller = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'caller' in value && typeof value.caller === 'string';

type OfItems = { readonly list: ListInfo; readonly items: unknown; readonly wanted: unknown };
const isOfSome = (asking: Asking, kind: Kind, { list, items, wanted }: OfItems): boolean => {
  if (!Array.isArray(items) || typeof wanted !== 'object' || wanted === null || !('some' in wanted))
    throw new UnknownCondition(`${kind.name}: ${list.name}`);
  const fields = { ...list.fields, ...(list.key !== undefined && { [list.key]: list.id.def }) };
  const one = { ...kind, name: `${kind.name}.${list.name}`, fields, lists: {}, facts: {}, owner: undefined };
  return items.some((item: Row) => isTrue(asking, one, wanted.some, item));
};

const isOfReference = (value: unknown): boolean =>
  value instanceof Other || (typeof value === 'object' && value !== null && 'not' in value);

/** The value of a field that a condition names in place of a value. */
class Other {
  readonly value: unknown;
  constructor(value: unknown) {
    this.value = value ?? null;
  }
}
const settled = (wanted: unknown, subject: Row): unknown => {
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) return wanted;
  if ('field' in wanted && Object.keys(wanted).length === 1) return new Other(subject[String(wanted.field)]);
  const words = Object.entries(wanted).map(([word, value]) =>
    COMPARISONS.has(word) ? [word, settled(value, subject)] : [word, value],
  );
  return Object.fromEntries(words);
};
const COMPARISONS: ReadonlySet<string> = new Set(['not', 'min', 'max']);

const isValue = (actual: unknown, wanted: unknown): boolean => {
  if (wanted instanceof Other) return wanted.value !== null && actual === wanted.value;
  if (Array.isArray(wanted)) return wanted.includes(actual);
  if (typeof wanted !== 'object' || wanted === null) return actual === wanted;
  if ('not' in wanted) return !isValue(actual, wanted.not);
  const { min, max } = Object.fromEntries(
    Object.entries(wanted).map(([word, bound]) => [word, bound instanceof Other ? bound.value : bound]),
  ) as { readonly min?: number | null; readonly max?: number | null };
  if (actual === null || min === null || max === null || (min === undefined && max === undefined))
    return false;
  return (min === undefined || (actual as number) >= min) && (max === undefined || (actual as number) <= max);
};
