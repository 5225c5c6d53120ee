import { always, type Expression, never } from './expression.ts';
import { changed } from './fold.ts';

/** Weakens a condition for unknown fields: it is true if the condition may be true. */
export const possiblyTrue = (expression: Expression, unknown: ReadonlySet<string>): Expression =>
  changed(expression, (asked, isNegated) =>
    unknown.has(asked.field) ? (isNegated ? never : always) : asked,
  );
