import type { Request, RequestHandler } from 'express';
import * as z from 'zod';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import { parametersOf } from '#edge/http/parameters.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import { admit, type Caller, reachOf, rightByMethod } from '#shared/policy.ts';
import { mediaTypeFor } from './media-type.ts';

/**
 * Refuses, before anything is read or done, a caller that may not do this whatever it sends, or could not
 * accept the response.
 */
export const demandAdmission =
  (operation: RestOperation): RequestHandler =>
  (request, _response, next) => {
    demandRight(request, operation);
    mediaTypeFor(request, eventsOf(operation));
    // An operation parses its own parameters.
    if (operation.query === undefined) parametersOf(NO_PARAMETERS, request.query);
    next();
  };

const eventsOf = ({ answer: { hasCloudEvents, kind } }: RestOperation) =>
  hasCloudEvents && (kind === 'item' || kind === 'list') ? kind : undefined;

/** Checks rights alone, for operations that respond in a form of their own. */
export const demandRight = (request: Request, operation: RestOperation): void => {
  const refusal = refusalOf(callerOf(request), operation);
  if (refusal !== undefined) throw refusal;
};

/** Whether the caller may do this at all, if only to some items. */
export const mayAsk = (caller: Caller, operation: RestOperation): boolean => {
  const right = rightFor(caller, operation);
  return right === null || (admit(caller, right) === 'allowed' && reachOf(caller, right).size > 0);
};

const rightFor = (caller: Caller, { right, method }: RestOperation) =>
  right === null ? null : rightByMethod(caller, right, method);

const NO_PARAMETERS = z.strictObject({});

const refusalOf = (caller: Caller, operation: RestOperation): Rejection | undefined => {
  const right = rightFor(caller, operation);
  if (right === null) return undefined;
  const admission = admit(caller, right);
  if (admission !== 'allowed') return admission;
  // An item that the caller cannot see will be reported as not found.
  const isOnItem = operation.path.includes('{');
  return !isOnItem && reachOf(caller, right).size === 0 ? new Rejection('forbidden') : undefined;
};
