import { decidingIn } from '#kernel/conditions/declared.ts';
import { type Expression, resolve } from '#kernel/conditions/expression.ts';
import { childrenOf } from '#kernel/conditions/fold.ts';
import { rightsOf } from '#kernel/conditions/rights.ts';
import type { Domain } from '#kernel/registry/registry.ts';

/**
 * The fields that a condition compares with a value, as `kind.field`. The others affect neither rights nor
 * refusals. If a decision of the domain is code, these are all fields: it may read those of other aggregates.
 */
export const comparedFields = (domain: Domain): ReadonlySet<string> => {
  const kinds = Object.values(domain.kinds);
  if (kinds.some(({ commands }) => Object.values(commands).some(({ decide }) => decide !== undefined)))
    return new Set(
      kinds.flatMap(({ name, fields }) => Object.keys(fields).map((field) => `${name}.${field}`)),
    );
  const byRights = [...rightsOf(domain).values()].flatMap(({ kind, alternatives }) =>
    alternatives.flatMap((condition) => comparedIn(condition, kind?.name ?? '')),
  );
  const byKinds = kinds.flatMap((kind) =>
    decidingIn(kind).flatMap((condition) => comparedIn(resolve(domain, kind, condition), kind.name)),
  );
  return new Set([...byRights, ...byKinds]);
};

const comparedIn = (expression: Expression, at: string, ...above: readonly string[]): readonly string[] =>
  childrenOf(expression).flatMap((asked) => {
    if (asked.op === 'at') return comparedIn(asked.of, asked.kind, at, ...above);
    if (asked.op === 'some') return comparedIn(asked.of, `${at}.${asked.field}`);
    const field = `${at}.${asked.field}`;
    return asked.op === 'beside' ? [field, `${[at, ...above][asked.up]}.${asked.other}`] : [field];
  });
