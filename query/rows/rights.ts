import type { Operation } from '#kernel/base/operation.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { attributeOf } from '#kernel/conditions/attributes.ts';
import { always, type Expression } from '#kernel/conditions/expression.ts';
import { partsIn } from '#kernel/conditions/parts.ts';
import { isReadAs } from '#kernel/conditions/rights.ts';
import { conditionSql, type SqlWriter } from '#kernel/conditions/sql.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import { stateFieldOf } from '#kernel/registry/state-field.ts';
import { type Caller, NO_RIGHTS, ownOf, type Resource, reachOf, userIdOf } from '#shared/policy.ts';
import type { ItemSource, Member, Source } from './source.ts';
import { presentSql } from './sources.ts';
import type { Parameters } from './statement.ts';

/** A part of the rows that a caller may read, as conditions on the row t. */
type ReadablePart = (parameters: Parameters) => readonly string[];

/** The restrictions of the list itself: columns with a fixed value, and the only states asked for. */
export type Narrowed = {
  readonly equal?: Readonly<Record<string, number>>;
  readonly states?: readonly string[] | undefined;
  /** True if no index has the rows of one state apart, so that each part would read those of all states. */
  readonly isAcrossStates?: boolean;
};

/**
 * The rows of a kind that a caller may read, as disjoint parts. An index holds each part in the order of
 * lists. A list merges one page of each part, so it reads no row that it has to drop, however few rows the
 * caller may read.
 */
export const readableParts = (
  caller: Caller,
  source: Source,
  { equal = {}, states, isAcrossStates = false }: Narrowed = {},
): readonly ReadablePart[] => {
  const reach = reachOf(caller, source.right);
  if (reach.size === 0) return [];
  const narrowed: ReadablePart = (parameters) => [
    ...presentSql(source),
    ...Object.entries(equal).map(([column, value]) => `t.${column} = ${parameters.add(value)}::bigint`),
  ];
  const state = stateMemberOf(source);
  const isUnconditional = reach.has(always) || isReadAsParent(source);
  const isApart = states !== undefined || !(isAcrossStates || source.staysWhenEnded);
  if (!state || (isUnconditional && !isApart))
    return [(parameters) => [...narrowed(parameters), ...readableRows(caller, source, parameters)]];
  return partsOf(caller, source).flatMap(({ state: value, left }) => {
    if (states !== undefined && !states.includes(value)) return [];
    // A literal, because some indexes are partial: of one state only.
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

type Asked = Pick<Source, 'kind' | 'right' | 'parent'>;

/**
 * The readable rows as one condition on the row t; no condition if all are readable. A kind that is as
 * visible as its parent needs none, because the way through the parent has checked the right.
 */
export const readableRows = (caller: Caller, source: Asked, parameters: Parameters): readonly string[] => {
  const reach = reachOf(caller, source.right);
  if (reach.size === 0) return ['false'];
  if (reach.has(always) || isReadAsParent(source)) return [];
  return [`(${[...reach].map((each) => textOf(caller, source.kind, each, parameters)).join(' or ')})`];
};

/** The conditions on the row t that are true for rows to which the caller has this right. */
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

/** Refuses to search by a field that the caller may not read of any row. */
export const demandSearchable = (caller: Caller, right: Operation | undefined, parameter: string): void => {
  if (right === undefined || reachOf(caller, right).size > 0) return;
  throw new HttpProblem('invalid_parameter', {
    extensions: { errors: [{ parameter, detail: 'You may not filter or order by this field.' }] },
  });
};

/** The items, as row i, that need no right beyond the right to their aggregate. */
export const outsideOf = ({ part }: ItemSource): string => {
  if (part === undefined) return 'true';
  const nobody = { viewer: () => 'null', attribute: () => 'null' };
  return `(${conditionSql(writerFor(nobody), part.of, { domain: NO_RIGHTS.domain, kind: part.kind, row: 'i' })}) is not true`;
};

/** Kinds that are as visible as their parent are listed only under a parent that the caller may read. */
export const isReadAsParent = ({ kind, parent }: Pick<Source, 'kind' | 'parent'>): boolean =>
  parent !== undefined && isReadAs(kind, parent.name);

/** A resource for the rights to children of an aggregate, as far as these rights depend on the aggregate. */
export const resourceUnder = ({ kind: above }: Source, { fields, find }: Resource): Resource => ({
  find: (kind, id) => (kind === above.name ? fields : find?.(kind, id)),
});

/** The member by whose states lists are read in parts. */
export const stateMemberOf = ({ kind, members }: Pick<Source, 'kind' | 'members'>): Member | undefined => {
  const name = stateFieldOf(kind);
  return members.find((member) => member.name === name);
};

const partsOf = (
  caller: Caller,
  source: Source,
): readonly { readonly state: string; readonly left: Expression }[] => {
  if (caller.kind !== 'system' && !isReadAsParent(source)) {
    const right = caller.policy.rights.get(source.right);
    return right === undefined ? [] : partsIn(right, reachOf(caller, source.right));
  }
  const states = stateMemberOf(source)?.def.values ?? [];
  return states.map((state) => ({ state, left: always }));
};

const textOf = (caller: Caller, kind: Kind, condition: Expression, parameters: Parameters): string => {
  if (caller.kind === 'system') return 'true';
  const { domain } = caller.policy;
  // PostgreSQL refuses parameters that no condition uses, so each is added when its text is.
  const writer = writerFor({
    viewer: () => `${parameters.add(userIdOf(caller))}::bigint`,
    attribute: (name) =>
      `${parameters.add(ownOf(caller)?.[name] ?? null)}::${attributeOf(domain, name).def.column}`,
  });
  return conditionSql(writer, condition, { domain, kind, row: 't' });
};

/**
 * The caller’s id and attributes. Each is added to the parameters when a condition uses it, and only then.
 */
type Added = { viewer(): string; attribute(name: string): string };

/** Writes conditions of rights as SQL text. */
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
