import { GraphQLError } from 'graphql';
import type { GraphqlSettings } from '#process/config.ts';

/** The limits of an operation; the settings named `GRAPHQL_…_MAX`. */
export type DocumentLimits = GraphqlSettings['limits'];

/** Each limit has its own code, and its error has the maximum and the actual number. */
const REFUSALS = {
  too_many_tokens: 'tokens',
  too_nested: 'levels of brackets',
  too_deep: 'levels of fields',
  too_many_aliases: 'aliases',
  too_many_directives: 'directives',
  too_many_root_fields: 'root fields',
  too_costly: 'units of cost',
  answer_too_large: 'bytes in the response',
} as const;

/**
 * Cost counts objects, and an object may have a long text: a few of them, repeated, would fill the memory of
 * a process.
 */
export const ANSWER_BYTES_MAX = 16_777_216;

type LimitCode = keyof typeof REFUSALS;

/** `found` is undefined if counting stopped at the limit. */
export const beyondLimit = (
  code: LimitCode,
  { max, found }: { readonly max: number; readonly found?: number },
): GraphQLError => {
  const came = found === undefined ? '' : `, but this one has ${found}`;
  return new GraphQLError(`An operation may have at most ${max} ${REFUSALS[code]}${came}.`, {
    extensions: { code, max, ...(found !== undefined && { found }) },
  });
};
