import type * as z from 'zod';
import { fieldErrorsOf } from '#shared/json-pointers.ts';
import { HttpProblem } from './http-problem.ts';

/**
 * Checks what a client sent; what is wrong is told by field. Elsewhere an error of a schema is a fault of
 * ours.
 */
export const parseInput = <Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> => {
  const { success, data, error } = schema.safeParse(input);
  if (!success)
    throw new HttpProblem('invalid_request', { extensions: { errors: fieldErrorsOf(error, input) } });
  return data;
};
