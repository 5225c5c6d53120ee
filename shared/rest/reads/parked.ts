import { HttpProblem } from '#shared/http/http-problem.ts';

const RETRY_AFTER_SECONDS = '60';

/** The problem of a parked aggregate, until an operator has fixed it. */
export const parked = (cause?: unknown): HttpProblem =>
  new HttpProblem('parked', { headers: { 'Retry-After': RETRY_AFTER_SECONDS }, cause });
