import type { Domain, Kind } from '../registry/registry.ts';
import { always, and, type Expression, negate, never, or } from './expression.ts';

/** A condition on a field, a reference or a list. Any other condition only combines conditions. */
export type Question = Extract<Expression, { readonly field: string }>;
/** A question about the target of a reference, or about the items of a list. */
type Step = Extract<Question, { readonly of: Expression }>;

/** The meaning of each way to combine conditions. */
type Folding<T> = {
  readonly constant: (value: boolean) => T;
  readonly all: (parts: readonly T[]) => T;
  readonly any: (parts: readonly T[]) => T;
  readonly not: (part: T, of: Expression) => T;
  readonly question: (question: Question, isNegated: boolean) => T;
};

/** Folds a condition down to its questions, which decide themselves whether to fold what is behind them. */
export const fold = <T>(expression: Expression, folding: Folding<T>, isNegated = false): T => {
  switch (expression.op) {
    case 'const':
      return folding.constant(expression.value);
    case 'and':
      return folding.all(expression.of.map((each) => fold(each, folding, isNegated)));
    case 'or':
      return folding.any(expression.of.map((each) => fold(each, folding, isNegated)));
    case 'not':
      return folding.not(fold(expression.of, folding, !isNegated), expression.of);
    default:
      return folding.question(expression, isNegated);
  }
};

/** The same condition with other questions. */
export const changed = (
  expression: Expression,
  change: Folding<Expression>['question'],
  isNegated = false,
): Expression =>
  fold(
    expression,
    {
      constant: (value) => (value ? always : never),
      all: (parts) => and(...parts),
      any: (parts) => or(...parts),
      not: negate,
      question: change,
    },
    isNegated,
  );

/** The questions that a condition asks of one aggregate or item, without those behind them. */
export const childrenOf = (expression: Expression): readonly Question[] =>
  fold<readonly Question[]>(expression, {
    constant: () => [],
    all: (parts) => parts.flat(),
    any: (parts) => parts.flat(),
    not: (part) => part,
    question: (question) => [question],
  });

/** A question with the steps that lead to it from the aggregate with the condition. */
type Asked = { readonly asked: Question; readonly way: readonly Step[] };

/** All questions of a condition, each before those behind it. */
export const questionsIn = (expression: Expression, way: readonly Step[] = []): readonly Asked[] =>
  childrenOf(expression).flatMap((asked): readonly Asked[] => [
    { asked, way },
    ...('of' in asked ? questionsIn(asked.of, [...way, asked]) : []),
  ]);

/** The kind of the aggregate to which references lead. */
export const kindAfter = (domain: Domain, kind: Kind, way: readonly Step[]): Kind | undefined => {
  const last = way.findLast((step) => step.op === 'at');
  return last === undefined ? kind : domain.kinds[last.kind];
};

/** A field or list that a condition reads, with the references and lists that lead to it. */
export type FactAt = { readonly field: string; readonly path: readonly string[] };

const factAt = ({ asked, way }: Asked): FactAt => ({
  field: asked.field,
  path: way.map(({ field }) => field),
});

/** The fields and lists that a question reads. */
const factsOf = ({ asked, way }: Asked): readonly FactAt[] => [
  factAt({ asked, way }),
  ...(asked.op === 'beside'
    ? [factAt({ asked: { ...asked, field: asked.other }, way: way.slice(0, way.length - asked.up) })]
    : []),
];

/** Of lists, it depends on the items. */
const isOfItem = ({ way }: Asked): boolean => way.some(({ op }) => op === 'some');

/** The facts that a condition depends on. */
export const factsIn = (expression: Expression): readonly FactAt[] =>
  questionsIn(expression)
    .filter((each) => each.asked.op !== 'at' && !isOfItem(each))
    .flatMap(factsOf);

/** The fields and references of an aggregate or item that a condition reads, without its lists. */
export const fieldsIn = (expression: Expression): readonly string[] =>
  questionsIn(expression)
    .filter(({ asked }) => asked.op !== 'some')
    .flatMap(factsOf)
    .flatMap(({ field, path }) => (path.length === 0 ? [field] : []));

/** The fields that a condition compares with the id of the caller. */
export const callersIn = (expression: Expression): readonly FactAt[] =>
  questionsIn(expression)
    .filter(({ asked }) => asked.op === 'caller')
    .map(factAt);

/**
 * Simplifies a condition for a known value of a field. Lists are split into parts by this; one index holds
 * each part in order.
 */
export const knowing = (expression: Expression, field: string, value: unknown): Expression =>
  changed(expression, (asked) =>
    asked.op === 'is' && asked.field === field ? (asked.value === value ? always : never) : asked,
  );
