import { capital, wire } from '../registry/names.ts';
import type { Domain, Kind } from '../registry/registry.ts';
import type { Expression } from './expression.ts';
import { compare } from './holds.ts';

/**
 * What a right depends on, flat, as a change carries it along: the owner as `ownerId`, other fields after their aggregate, as
 * `articleStatus`, and those behind a reference after the reference, as `articleAuthorId`. What is not known is not there.
 */
export type Facts = Readonly<Record<string, unknown>>;
export type Check = (facts: Facts, callerId: number | null) => boolean;
/** Behind which references, from the aggregate whose right it is. */
type At = { readonly domain: Domain; readonly kind: Kind | undefined; readonly path: readonly string[] };

const keyOf = ({ kind, path }: At, field: string): string => {
  const isOwner = kind === undefined || field === kind.owner || (kind.name === 'user' && field === 'id');
  if (isOwner && path.length === 0) return 'ownerId';
  const [first = kind?.name ?? '', ...others] = path;
  return [first, ...others.map(capital), capital(wire(field, kind?.fields[field]))].join('');
};

/** The same as `holds`, of facts, compiled. */
export const checkOf = (expression: Expression, at: At): Check => {
  switch (expression.op) {
    case 'const':
      return () => expression.value;
    case 'and': {
      const checks = expression.of.map((each) => checkOf(each, at));
      return (facts, callerId) => checks.every((check) => check(facts, callerId));
    }
    case 'or': {
      const checks = expression.of.map((each) => checkOf(each, at));
      return (facts, callerId) => checks.some((check) => check(facts, callerId));
    }
    case 'not': {
      const check = checkOf(expression.of, at);
      const keys = fieldsOf(expression.of).map((each) => keyOf(at, each));
      // Of what is not known, no negation is true either.
      return (facts, callerId) => keys.every((key) => facts[key] !== undefined) && !check(facts, callerId);
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
    case 'at':
      return behind(expression, at);
    case 'some':
      // Facts hold no lists.
      return () => false;
  }
};

/** Nothing is true of what is not there: of that, no fact is known. */
const behind = ({ field, kind, of }: Extract<Expression, { op: 'at' }>, { domain, path }: At): Check => {
  const there: At = { domain, kind: domain.kinds[kind], path: [...path, field] };
  const check = checkOf(of, there);
  const keys = fieldsOf(of).map((each) => keyOf(there, each));
  return (facts, callerId) => keys.some((key) => facts[key] !== undefined) && check(facts, callerId);
};

const fieldsOf = (expression: Expression): readonly string[] => {
  switch (expression.op) {
    case 'and':
    case 'or':
      return expression.of.flatMap(fieldsOf);
    case 'not':
      return fieldsOf(expression.of);
    case 'const':
    case 'some':
      return [];
    default:
      return [expression.field];
  }
};
