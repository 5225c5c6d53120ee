import type * as z from 'zod';
import { parsePlainly } from '#kernel/base/plain-issues.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { fieldErrorsOf } from '#shared/json-pointers.ts';

/** Checks client input, and reports errors by field. Elsewhere a schema error is a server error. */
export const parseInput = <Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> => {
  const { success, data, error } = parsePlainly(schema, input);
  if (!success)
    throw new HttpProblem('invalid_request', { extensions: { errors: fieldErrorsOf(error, input) } });
  return data;
};
