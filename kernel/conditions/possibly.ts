import { always, at, type Expression, never } from './expression.ts';
import { changed, type Question } from './fold.ts';

/** Weakens a condition for unknown fields: it is true if the condition may be true. */
export const possiblyTrue = (expression: Expression, unknown: ReadonlySet<string>): Expression => {
  /** The fields are unknown of the aggregate with the condition, `depth` references before the asked one. */
  const weakened = (of: Expression, depth: number, isNegation: boolean): Expression =>
    changed(
      of,
      (asked, isNegated) => {
        if (isUnknown(asked, depth)) return isNegated ? never : always;
        return asked.op === 'at'
          ? at(asked.field, asked.kind, weakened(asked.of, depth + 1, isNegated))
          : asked;
      },
      isNegation,
    );
  const isUnknown = (asked: Question, depth: number): boolean =>
    (depth === 0 && unknown.has(asked.field)) ||
    (asked.op === 'beside' && asked.up === depth && unknown.has(asked.other));
  return weakened(expression, 0, false);
};
