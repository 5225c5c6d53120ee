import { and, at, type Expression, negate, or } from '#kernel/conditions/expression.ts';
import { expressionWords } from '#kernel/conditions/words.ts';

/**
 * A condition in disjunctive form: alternatives, each of which needs all of its parts, in words. An
 * alternative without parts is always true.
 */
export type Alternatives = readonly (readonly string[])[];

/** With more alternatives, a condition is one part. */
const ALTERNATIVES_MAX = 64;

export const alternativesOf = (condition: Expression): Alternatives => {
  const found = apart(condition) ?? [[condition]];
  return found.map((parts) => [...new Set(parts.map((part) => expressionWords(part)))].toSorted());
};

type Parts = readonly (readonly Expression[])[];

/**
 * Undefined if there would be too many. A condition on one item of a list is one part, because different
 * items may meet different parts.
 */
const apart = (condition: Expression): Parts | undefined => {
  switch (condition.op) {
    case 'const':
      return condition.value ? [[]] : [];
    case 'or':
      return bounded(condition.of.map(apart), (each) => each.flat());
    case 'and':
      return bounded(condition.of.map(apart), productOf);
    case 'not':
      return negated(condition.of);
    case 'at': {
      const { field, kind, of } = condition;
      // The field must also have a value.
      return of.op === 'const'
        ? [[condition]]
        : apart(of)?.map((parts) => parts.map((part) => at(field, kind, part)));
    }
    default:
      return [[condition]];
  }
};

const negated = (of: Expression): Parts | undefined => {
  switch (of.op) {
    case 'and':
      return apart(or(...of.of.map(negate)));
    case 'or':
      return apart(and(...of.of.map(negate)));
    default:
      return [[negate(of)]];
  }
};

const bounded = (
  all: readonly (Parts | undefined)[],
  join: (all: readonly Parts[]) => Parts,
): Parts | undefined => {
  const known = all.filter((each) => each !== undefined);
  if (
    known.length < all.length ||
    known.reduce((count, { length }) => count * Math.max(1, length), 1) > ALTERNATIVES_MAX
  )
    return undefined;
  return join(known);
};

const productOf = (all: readonly Parts[]): Parts =>
  all.reduce<Parts>(
    (before, next) => before.flatMap((parts) => next.map((more) => [...parts, ...more])),
    [[]],
  );

/**
 * Returns whether the first condition admits everybody whom the second admits. A part is known to follow only
 * from the same part.
 */
export const covers = (some: Alternatives, others: Alternatives): boolean =>
  others.every((parts) => some.some((each) => each.every((part) => parts.includes(part))));
