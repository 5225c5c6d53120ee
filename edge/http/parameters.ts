import type * as z from 'zod';
import { parsePlainly } from '#kernel/base/plain-issues.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';

/** Checks the parameters of a query. Refuses unknown ones, because a filter without effect misleads. */
export const parametersOf = <Schema extends z.ZodObject>(
  schema: Schema,
  query: unknown,
): z.output<Schema> => {
  const result = parsePlainly(schema, query);
  if (!result.success) throw refusal(result.error.issues.flatMap(errorsOf));
  if (result.data.after !== undefined && result.data.before !== undefined)
    throw refusal([{ parameter: 'before', detail: 'Cannot go with after.' }]);
  return result.data;
};

const ERRORS_MAX = 20;

const refusal = (errors: readonly { readonly parameter: string; readonly detail: string }[]): HttpProblem =>
  new HttpProblem('invalid_parameter', { extensions: { errors: errors.slice(0, ERRORS_MAX) } });

const errorsOf = (
  issue: z.core.$ZodIssue,
): readonly { readonly parameter: string; readonly detail: string }[] =>
  issue.code === 'unrecognized_keys'
    ? issue.keys.map((parameter) => ({
        parameter,
        detail: parameter === 'at' ? NO_PAST : 'There is no such parameter.',
      }))
    : [{ parameter: String(issue.path[0] ?? ''), detail: issue.message }];

/** Ignoring `at` would return the present as if it were the past. */
const NO_PAST = 'Time travel is not possible here. Omit the parameter to read the current state.';
