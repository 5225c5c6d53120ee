import { capital, wire } from '../base/names.ts';
import { isUser } from '../base/users.ts';
import type { Domain, Kind } from '../registry/registry.ts';
import { always, and, type Expression, negate, never, or } from './expression.ts';
import { changed, childrenOf, fold, type Question } from './fold.ts';
import { type Attributes, compare, holdsOf, isInOrder, isSame, type State } from './holds.ts';

/**
 * The facts that a right depends on, flat, as a change carries them: the owner as `ownerId`, other fields
 * prefixed with their aggregate (`articleStatus`), fields behind a reference prefixed with the reference
 * (`articleAuthorId`). Unknown facts are absent.
 */
export type Facts = Readonly<Record<string, unknown>>;
export type Check = (facts: Facts, callerId: number | null, own?: Attributes) => boolean;
/** The references that lead here from the aggregate whose right it is. */
type At = {
  readonly domain: Domain;
  readonly kind: Kind | undefined;
  readonly path: readonly string[];
  /** The aggregate whose reference leads here. */
  readonly outer?: At;
};

const keyOf = ({ kind, path }: At, field: string): string => {
  const isOwner = kind === undefined || field === kind.owner || (isUser(kind) && field === 'id');
  if (isOwner && path.length === 0) return 'ownerId';
  const [first = kind?.name ?? '', ...others] = path;
  return [first, ...others.map(capital), capital(wire(field, kind?.fields[field]))].join('');
};

/** Like `holdsOf`, evaluated on facts. */
export const checkOf = (expression: Expression, at: At): Check => {
  switch (expression.op) {
    case 'const':
      return () => expression.value;
    case 'and': {
      const checks = expression.of.map((each) => checkOf(each, at));
      return (facts, callerId, own) => checks.every((check) => check(facts, callerId, own));
    }
    case 'or': {
      const checks = expression.of.map((each) => checkOf(each, at));
      return (facts, callerId, own) => checks.some((check) => check(facts, callerId, own));
    }
    case 'not': {
      const check = checkOf(expression.of, at);
      const keys = keyedFactsIn(expression.of, at).map(({ key }) => key);
      // The negation of an unknown fact is not true either.
      return (facts, callerId, own) =>
        keys.every((key) => facts[key] !== undefined) && !check(facts, callerId, own);
    }
    case 'is': {
      const key = keyOf(at, expression.field);
      return (facts) => facts[key] === expression.value;
    }
    case 'min':
    case 'max': {
      const [key, sign] = [keyOf(at, expression.field), expression.op === 'min' ? 1 : -1];
      return (facts) => sign * compare(facts[key], expression.than) >= 0;
    }
    case 'caller': {
      const key = keyOf(at, expression.field);
      return (facts, callerId) => callerId !== null && facts[key] === callerId;
    }
    case 'callers': {
      const key = keyOf(at, expression.field);
      return (facts, _callerId, own) => isSame(facts[key], own?.[expression.attribute]);
    }
    case 'beside': {
      const { by, field, other, up } = expression;
      const [key, than] = [keyOf(at, field), keyOf(above(at, up), other)];
      return (facts) => isInOrder(by, facts[key], facts[than]);
    }
    case 'at':
      return behind(expression, at);
    case 'some': {
      const key = keyOf(at, expression.field);
      const holds = holdsOf(expression.of);
      return (facts, callerId, own) =>
        itemsIn(facts[key]).some((item) => holds(item, callerId, findNothing, own));
    }
  }
};

/** The fact of a list holds the fields of its items that conditions ask for. */
const itemsIn = (fact: unknown): readonly State[] => (Array.isArray(fact) ? fact : []);
/** Conditions ask nothing behind references of items. */
const findNothing = (): undefined => undefined;

/** A condition on an absent aggregate is false. If no fact about the target is known, it is absent. */
const behind = (expression: Extract<Expression, { op: 'at' }>, at: At): Check => {
  const check = checkOf(expression.of, thereOf(expression, at));
  const keys = factsBehind(expression, at).map(({ key }) => key);
  return (facts, callerId, own) =>
    keys.some((key) => facts[key] !== undefined) && check(facts, callerId, own);
};

const thereOf = ({ field, kind }: Extract<Expression, { op: 'at' }>, outer: At): At => ({
  domain: outer.domain,
  kind: outer.domain.kinds[kind],
  path: [...outer.path, field],
  outer,
});

const above = (at: At, up: number): At => (up === 0 || at.outer === undefined ? at : above(at.outer, up - 1));

/** The facts about the target, without those of the aggregate that refers to it. */
const factsBehind = (expression: Extract<Expression, { op: 'at' }>, at: At): readonly Fact[] =>
  keyedFactsIn(expression, at).filter(({ path }) => path.length > at.path.length);

/** A field that a condition asks for behind these references, and its key among the facts. */
export type Fact = { readonly key: string; readonly path: readonly string[]; readonly field: string };

export const keyedFactsIn = (expression: Expression, at: At): readonly Fact[] =>
  childrenOf(expression).flatMap((asked) => {
    if (asked.op === 'beside')
      return [keyedFact(at, asked.field), keyedFact(above(at, asked.up), asked.other)];
    if (asked.op !== 'at') return [keyedFact(at, asked.field)];
    const there = thereOf(asked, at);
    const found = keyedFactsIn(asked.of, there);
    // Existence is part of the condition, so the id is asked for too.
    return found.length > 0 ? found : [keyedFact(there, 'id')];
  });

/** The question that a condition asks of one field of one aggregate. */
export type QuestionAt = { readonly asked: Question; readonly at: At };

/** The questions to aggregates, without those to the items of lists. Of two fields, each is asked. */
export const questionsAt = (expression: Expression, at: At): readonly QuestionAt[] =>
  childrenOf(expression).flatMap((asked): readonly QuestionAt[] => [
    { asked, at },
    ...(asked.op === 'beside'
      ? [{ asked: { ...asked, field: asked.other, other: asked.field }, at: above(at, asked.up) }]
      : []),
    ...(asked.op === 'at' ? questionsAt(asked.of, thereOf(asked, at)) : []),
  ]);

export const keyedFact = (at: At, field: string): Fact => ({ key: keyOf(at, field), path: at.path, field });

/**
 * Simplifies a condition by known facts: to true, false, or a condition on the caller. Equal results are true
 * of the same callers.
 */
export const leftBy = (expression: Expression, at: At, facts: Facts): Expression =>
  fold<Expression>(expression, {
    constant: (value) => (value ? always : never),
    all: (parts) => and(...parts),
    any: (parts) => or(...parts),
    not: (part, of) =>
      keyedFactsIn(of, at).every(({ key }) => facts[key] !== undefined) ? negate(part) : never,
    question: (asked) => answerLeft(asked, at, facts),
  });

const answerLeft = (asked: Question, at: At, facts: Facts): Expression => {
  switch (asked.op) {
    case 'at':
      return factsBehind(asked, at).some(({ key }) => facts[key] !== undefined)
        ? leftBy(asked.of, thereOf(asked, at), facts)
        : never;
    case 'caller':
      return callerLeft(facts[keyOf(at, asked.field)]);
    case 'callers':
      return attributeLeft(asked, facts[keyOf(at, asked.field)]);
    case 'some':
      return or(...itemsIn(facts[keyOf(at, asked.field)]).map((item) => leftOfItem(asked.of, item)));
    default:
      return checkOf(asked, at)(facts, null) ? always : never;
  }
};

const callerLeft = (id: unknown): Expression =>
  typeof id === 'number' ? { op: 'caller', field: String(id) } : never;

const attributeLeft = ({ attribute }: Extract<Expression, { op: 'callers' }>, value: unknown): Expression =>
  value === undefined || value === null ? never : { op: 'callers', field: JSON.stringify(value), attribute };

const leftOfItem = (expression: Expression, item: State): Expression =>
  changed(expression, (asked) => {
    if (asked.op === 'caller') return callerLeft(item[asked.field]);
    if (asked.op === 'callers') return attributeLeft(asked, item[asked.field]);
    return holdsOf(asked)(item, null, findNothing) ? always : never;
  });
