import type { Request, RequestHandler } from 'express';
import * as z from 'zod';
import { callerOf } from '#shared/http/authenticate/authenticate.ts';
import { parametersOf } from '#shared/http/parameters.ts';
import { admit, type Caller, reachOf } from '#shared/policy.ts';
import { Rejection } from '#shared/rejection.ts';
import { mediaTypeFor } from './media-type.ts';
import type { RestOperation } from './operation.ts';

/**
 * Refuses, before anything is read or done, whoever cannot be let do this whatever they send, and whoever
 * could not read the answer.
 */
export const demandAdmission =
  (operation: RestOperation): RequestHandler =>
  (request, _response, next) => {
    demandRight(request, operation);
    mediaTypeFor(request);
    // What an operation takes, it reads itself.
    if (operation.query === undefined) parametersOf(NO_PARAMETERS, request.query);
    next();
  };

/** The first half of it, for operations that answer in a form of their own. */
export const demandRight = (request: Request, operation: RestOperation): void => {
  const refusal = refusalOf(callerOf(request), operation);
  if (refusal !== undefined) throw refusal;
};

const NO_PARAMETERS = z.strictObject({});

const refusalOf = (caller: Caller, { right, path }: RestOperation): Rejection | undefined => {
  if (right === null) return undefined;
  const admission = admit(caller, right);
  if (admission !== 'allowed') return admission;
  // Of an item that the caller cannot see, it will be said that it is not there.
  const isOnItem = path.includes('{');
  return !isOnItem && reachOf(caller, right).size === 0 ? new Rejection('forbidden') : undefined;
};
