import { always, and, type Expression, negate, never, or } from './expression.ts';

/**
 * Weakens a condition for unknown fields: true if the condition may be true, or, with `isIt` false, true only
 * if it must be.
 */
export const possiblyTrue = (
  expression: Expression,
  unknown: ReadonlySet<string>,
  isIt = true,
): Expression => {
  switch (expression.op) {
    case 'const':
      return expression;
    case 'and':
      return and(...expression.of.map((each) => possiblyTrue(each, unknown, isIt)));
    case 'or':
      return or(...expression.of.map((each) => possiblyTrue(each, unknown, isIt)));
    case 'not':
      return negate(possiblyTrue(expression.of, unknown, !isIt));
    default:
      return unknown.has(expression.field) ? (isIt ? always : never) : expression;
  }
};
