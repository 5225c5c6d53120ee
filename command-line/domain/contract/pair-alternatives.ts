import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '#kernel/base/json.ts';

/** One alternative of a union; `followed` has references resolved and no descriptions. */
export type Alternative = {
  readonly schema: JsonObject;
  readonly followed: Readonly<Record<string, unknown>>;
};

type Paired = {
  readonly pairs: readonly (readonly [Alternative, Alternative])[];
  readonly gone: number;
  readonly came: number;
};

/**
 * Pairs equal ones first, then those with the same constants, such as `type: "add"`, then those without
 * constants by position.
 */
export const pairAlternatives = (before: readonly Alternative[], after: readonly Alternative[]): Paired => {
  const [pairs, came] = [[] as (readonly [Alternative, Alternative])[], [...after]];
  let gone = before;
  for (const isPair of PAIRED_BY)
    gone = gone.filter((one) => {
      const index = came.findIndex((other) => isPair(one, other));
      pairs.push(...came.splice(index, index < 0 ? 0 : 1).map((other) => [one, other] as const));
      return index < 0;
    });
  return { pairs, gone: gone.length, came: came.length };
};

const PAIRED_BY: readonly ((one: Alternative, other: Alternative) => boolean)[] = [
  (one, other) =>
    isDeepStrictEqual(one.schema, other.schema) || isDeepStrictEqual(one.followed, other.followed),
  (one, other) => constantsOf(one).length > 0 && isDeepStrictEqual(constantsOf(one), constantsOf(other)),
  (one, other) => constantsOf(one).length + constantsOf(other).length === 0,
];

/** The constants that distinguish it from the others. */
const constantsOf = ({ followed }: Alternative): readonly unknown[] => {
  if ('const' in followed) return [followed.const];
  return Object.entries((followed.properties ?? {}) as Record<string, JsonObject>)
    .flatMap(([name, schema]) => ('const' in schema ? [[name, schema.const]] : []))
    .toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1));
};
