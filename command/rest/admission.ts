import type { Request, RequestHandler } from 'express';
import { callerOf } from '#shared/http/authenticate/authenticate.ts';
import { HttpProblem } from '#shared/http/http-problem.ts';
import { admit, type Caller, reachOf } from '#shared/policy.ts';
import { Rejection } from '#shared/rejection.ts';
import { mediaTypeFor } from '#shared/rest/media-type.ts';
import type { RestOperation } from '#shared/rest/operation.ts';

/** Refuses, before the body is read, whoever cannot be let do this whatever they send, and whoever could not read the answer. */
export const demandAdmission =
  (operation: RestOperation): RequestHandler =>
  (request, _response, next) => {
    const refusal = refusalOf(callerOf(request), operation);
    if (refusal !== undefined) throw refusal;
    mediaTypeFor(request);
    refuseParameters(request);
    next();
  };

const refusalOf = (caller: Caller, { right, path }: RestOperation): Rejection | undefined => {
  const admission = admit(caller, right);
  if (admission !== 'allowed') return admission;
  // Of an item that the caller cannot see, the command will say that it is not there.
  const isOnItem = path.includes('{');
  return !isOnItem && reachOf(caller, right) === 'never' ? new Rejection('forbidden') : undefined;
};

/** No write takes any in its query; one that did nothing would mislead. */
const refuseParameters = ({ query }: Request): void => {
  const errors = Object.keys(query).map((parameter) => ({ parameter, detail: 'There is no such parameter.' }));
  if (errors.length > 0) throw new HttpProblem('invalid_parameter', { extensions: { errors: errors.slice(0, ERRORS_MAX) } });
};

const ERRORS_MAX = 20;
