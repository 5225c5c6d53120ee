import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { StreamCut } from '#shared/event-log/errors.ts';

const RETRY_AFTER_SECONDS = '60';

/** The problem of a parked aggregate, until an operator has fixed it. */
export const parked = (cause?: unknown, detail = detailOf(cause)): HttpProblem =>
  new HttpProblem('parked', {
    headers: { 'Retry-After': RETRY_AFTER_SECONDS },
    cause,
    ...(detail !== undefined && { detail }),
  });

/** The message of a cut names nothing but the stream and its versions. */
const detailOf = (cause: unknown): string | undefined =>
  cause instanceof StreamCut ? cause.message : undefined;
