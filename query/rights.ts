import { attributeOf } from '#kernel/conditions/attributes.ts';
import { always, type Expression } from '#kernel/conditions/expression.ts';
import { partsIn } from '#kernel/conditions/parts.ts';
import { isReadAs, rightOf } from '#kernel/conditions/rights.ts';
import { conditionSql, type SqlWriter } from '#kernel/conditions/sql.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import { staysWhenEnded } from '#kernel/rows/table.ts';
import { HttpProblem } from '#shared/http/http-problem.ts';
import {
  type Caller,
  NO_RIGHTS,
  type Operation,
  ownOf,
  type Resource,
  reachOf,
  userIdOf,
} from '#shared/policy.ts';
import { type ItemSource, type Member, presentSql, type Source } from './sources.ts';
import type { Parameters } from './statement.ts';

/** A part of what a caller may read, as conditions on the row t. */
export type ReadablePart = (parameters: Parameters) => readonly string[];

/**
 * What a list is narrowed to anyway: columns that must have a value, and states of which only these are asked
 * for.
 */
type Narrowed = {
  readonly equal?: Readonly<Record<string, number>>;
  readonly states?: readonly string[] | undefined;
};

/**
 * What a caller may read of a kind, as parts that have nothing in common, each of which one index holds in
 * the order of lists. A list takes a page of each and merges them, so that it reads no row that it would have
 * to leave out again, however few of all rows the caller may read.
 */
export const readableParts = (
  caller: Caller,
  source: Source,
  { equal = {}, states }: Narrowed = {},
): readonly ReadablePart[] => {
  const reach = reachOf(caller, source.right);
  if (reach.size === 0) return [];
  const narrowed: ReadablePart = (parameters) => [
    ...presentSql(source),
    ...Object.entries(equal).map(([column, value]) => `t.${column} = ${parameters.add(value)}::bigint`),
  ];
  const state = source.members.find(({ def }) => def.kind === 'states');
  if (!state) return [(parameters) => [...narrowed(parameters), ...readableRows(caller, source, parameters)]];
  return partsOf(caller, source).flatMap(({ state: value, left }) => {
    if (states !== undefined && !states.includes(value)) return [];
    // As it stands, because some indexes are of one state only.
    const isState = `t.${state.column} = '${value}'`;
    const only =
      left.op === 'caller'
        ? equal[source.members.find(({ name }) => name === left.field)?.column ?? '']
        : undefined;
    if (left === always || (only !== undefined && only === userIdOf(caller)))
      return [(parameters) => [isState, ...narrowed(parameters)]];
    return only === undefined
      ? [(parameters) => [isState, textOf(caller, source.kind, left, parameters), ...narrowed(parameters)]]
      : [];
  });
};

/** Of which a right is asked in SQL. */
type Asked = Pick<Source, 'kind' | 'right' | 'parent'>;

/**
 * The same in one condition on the row t, if it takes any. Of what is as visible as its parent, whoever leads
 * there has asked for the right.
 */
export const readableRows = (caller: Caller, source: Asked, parameters: Parameters): readonly string[] => {
  const reach = reachOf(caller, source.right);
  if (reach.size === 0) return ['false'];
  if (reach.has(always) || isReadAsParent(source)) return [];
  return [`(${[...reach].map((each) => textOf(caller, source.kind, each, parameters)).join(' or ')})`];
};

/** What a right to a part leaves of the rows, as conditions on the row t. */
export const rowsWith = (
  caller: Caller,
  { kind }: Source,
  right: Operation,
  parameters: Parameters,
): readonly string[] => {
  const reach = reachOf(caller, right);
  if (reach.size === 0) return ['false'];
  return reach.has(always)
    ? []
    : [`(${[...reach].map((each) => textOf(caller, kind, each, parameters)).join(' or ')})`];
};

/** Refuses to look for something by a field that the caller may read of none. */
export const demandSeen = (caller: Caller, right: Operation | undefined, parameter: string): void => {
  if (right === undefined || reachOf(caller, right).size > 0) return;
  throw new HttpProblem('invalid_parameter', {
    extensions: { errors: [{ parameter, detail: 'Must ask for what you may read.' }] },
  });
};

/** Of items, as row i, those that are in no part that fewer may read. */
export const outsideOf = ({ part }: ItemSource): string => {
  if (part === undefined) return 'true';
  const nobody = { viewer: () => 'null', attribute: () => 'null' };
  return `(${conditionSql(writerFor(nobody), part.of, { domain: NO_RIGHTS.domain, kind: part.kind, row: 'i' })}) is not true`;
};

/** Whatever is as visible as its parent is asked for under one that the caller may read. */
export const isReadAsParent = ({ kind, parent }: Pick<Source, 'kind' | 'parent'>): boolean =>
  parent !== undefined && isReadAs(kind, parent.name);

/** Whether whoever may read the one may read what its reference leads to: else that is null for some. */
export const isReadableWith = (domain: Domain, kind: Kind, member: Member): boolean =>
  isReadAs(kind, member.name) || isReadableWithItems(domain, kind, member);

/** The same of a reference of the items of a list. */
export const isReadableWithItems = (
  domain: Domain,
  kind: Kind,
  { target }: Pick<Member, 'target'>,
): boolean => {
  const isConst = (of: Kind, role: string, value: boolean): boolean => {
    const right = rightOf(domain, of, 'read', role);
    return right.op === 'const' && right.value === value;
  };
  return (
    target !== undefined &&
    domain.roles.every((role) => isConst(target, role, true) || isConst(kind, role, false))
  );
};

/**
 * Whether what a reference of the items of a list leads to is there for all who may read the items: else it
 * may be gone.
 */
export const isAlwaysThere = (domain: Domain, kind: Kind, member: Pick<Member, 'target'>): boolean =>
  member.target !== undefined && staysWhenEnded(member.target) && isReadableWithItems(domain, kind, member);

/** What the rights to whatever stands under an aggregate are asked of, as far as they lead through that. */
export const resourceUnder = ({ kind: above }: Source, { fields, find }: Resource): Resource => ({
  find: (kind, id) => (kind === above.name ? fields : find?.(kind, id)),
});

const partsOf = (
  caller: Caller,
  { right: operation, members }: Source,
): readonly { readonly state: string; readonly left: Expression }[] => {
  if (caller.kind !== 'system') {
    const right = caller.policy.rights.get(operation);
    return right === undefined ? [] : partsIn(right, reachOf(caller, operation));
  }
  const states = members.find(({ def }) => def.kind === 'states')?.def.values ?? [];
  return states.map((state) => ({ state, left: always }));
};

const textOf = (caller: Caller, kind: Kind, condition: Expression, parameters: Parameters): string => {
  if (caller.kind === 'system') return 'true';
  const { domain } = caller.policy;
  // PostgreSQL refuses a value that no condition names.
  const writer = writerFor({
    viewer: () => `${parameters.add(userIdOf(caller))}::bigint`,
    attribute: (name) =>
      `${parameters.add(ownOf(caller)?.[name] ?? null)}::${attributeOf(domain, name).def.column}`,
  });
  return conditionSql(writer, condition, { domain, kind, row: 't' });
};

/**
 * The caller’s id, and fields, which are added to the values where a condition asks for them, and only there.
 */
type Added = { viewer(): string; attribute(name: string): string };

/** Makes conditions of rights as text. */
const writerFor = ({ viewer, attribute }: Added): SqlWriter<string> => ({
  sql: (strings, ...holes) => String.raw(strings, ...holes),
  name: (word) => word,
  constant: (value) => (typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)),
  table: (name) => `read_model.${name}`,
  get viewer() {
    return viewer();
  },
  attribute,
});
