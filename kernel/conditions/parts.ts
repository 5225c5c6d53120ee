import { snake } from '../base/names.ts';
import { oncePer } from '../base/once-per.ts';
import { stateFieldOf } from '../registry/state-field.ts';
import { always, and, type Expression, negate, never } from './expression.ts';
import { knowing } from './fold.ts';
import type { Reach, Right } from './rights.ts';
import {
  type ConditionedRow,
  conditionSql,
  type Granted,
  joinedBy,
  rightSql,
  type SqlWriter,
} from './sql.ts';

/**
 * A part of the readable rows: one state, restricted by one condition. Parts are disjoint, and one index
 * holds each in the order of lists, so that a list reads no row only to drop it.
 */
type Part = {
  readonly state: string;
  /** Undefined for a public state: the part is all that the right allows in it, nearly everything. */
  readonly only?: Alternative;
  readonly except: readonly Alternative[];
};
/** The condition that grants it, and its remainder once the state is known. */
type Alternative = { readonly granted: Expression; readonly left: Expression };

/** The field with the states of an aggregate, and their names. */
const statesFieldOf = (right: Right): readonly [string, readonly string[]] | undefined => {
  const name = right.kind && stateFieldOf(right.kind);
  return name === undefined ? undefined : [name, right.kind?.fields[name]?.values ?? []];
};

/** States that are open to the public come first. */
const statesOf = (
  right: Right,
  [field, values]: readonly [string, readonly string[]],
): readonly (readonly [string, boolean])[] => {
  const open = [...(right.byRole.get('anonymous') ?? [])];
  const isPublic = (value: string): boolean => open.some((each) => knowing(each, field, value) === always);
  return [
    ...values.filter(isPublic).map((value) => [value, true] as const),
    ...values.filter((v) => !isPublic(v)).map((v) => [v, false] as const),
  ];
};

const partsOf = oncePer((right: Right): readonly Part[] => makeAllParts(right));

const makeAllParts = (right: Right): readonly Part[] => {
  const field = statesFieldOf(right);
  if (field === undefined) return [];
  return statesOf(right, field).flatMap(([state, isPublic]): readonly Part[] => {
    if (isPublic) return [{ state, except: [] }];
    const all = [always, ...right.alternatives].flatMap((granted): readonly Alternative[] => {
      const left = knowing(granted, field[0], state);
      return left === never ? [] : [{ granted, left }];
    });
    return all.map((only, index) => ({ state, only, except: all.slice(0, index) }));
  });
};

export type SqlPart<Sql> = { readonly state: string | undefined; readonly where: Sql };
/** The parts as SQL conditions; a single part if the aggregate has no states. */
export const partsSql = <Sql>(
  writer: SqlWriter<Sql>,
  right: Right,
  at: ConditionedRow<Sql>,
  granted: Granted<Sql>,
): readonly SqlPart<Sql>[] => {
  const { sql, name, constant } = writer;
  const field = statesFieldOf(right);
  if (field === undefined) return [{ state: undefined, where: rightSql(writer, right, at, granted) }];
  return partsOf(right).map(({ state, only, except }) => {
    const isState = sql`${at.row}.${name(snake(field[0]))} = ${constant(state)}`;
    if (only === undefined)
      return { state, where: sql`${isState} and ${rightSql(writer, right, at, granted)}` };
    const isLeft = only.left === always ? [] : [conditionSql(writer, only.left, at)];
    const isNoOther = except.map((other) =>
      other.left === always
        ? sql`not ${granted(other.granted)}`
        : sql`(${granted(other.granted)} and ${conditionSql(writer, other.left, at)}) is not true`,
    );
    return {
      state,
      where: joinedBy(writer, [isState, ...isLeft, granted(only.granted), ...isNoOther], sql` and `),
    };
  });
};

type PartLeft = { readonly state: string; readonly left: Expression };

/**
 * The parts that a caller may read, for statements made per caller, with the remaining condition for each
 * state. Computed once per reach.
 */
export const partsIn = (right: Right, reach: Reach): readonly PartLeft[] => partsLeftOf(right)(reach);

const partsLeftOf = oncePer((right: Right) => oncePer((reach: Reach) => makeParts(right, reach)));

const makeParts = (right: Right, reach: Reach): readonly PartLeft[] => {
  const field = statesFieldOf(right);
  if (field === undefined) return [];
  return statesOf(right, field).flatMap(([state]) => {
    const left = [...reach].map((each) => knowing(each, field[0], state)).filter((each) => each !== never);
    if (left.includes(always)) return [{ state, left: always }];
    return left.map((each, index) => ({ state, left: and(each, ...left.slice(0, index).map(negate)) }));
  });
};
