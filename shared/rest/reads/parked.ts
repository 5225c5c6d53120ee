import { HttpProblem } from '#shared/http/http-problem.ts';

const RETRY_AFTER_SECONDS = '60';

/** Said of what stands still until an operator has looked at it. */
export const parked = (cause?: unknown): HttpProblem =>
  new HttpProblem('parked', { headers: { 'Retry-After': RETRY_AFTER_SECONDS }, cause });
