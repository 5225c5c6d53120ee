import type { Request } from 'express';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import { versionsDemandedBy, versionsForbiddenBy } from '#edge/http/entity-tag.ts';
import { requestIdOf } from '#edge/http/request-context.ts';
import { traceparentOf } from '#edge/http/request-span.ts';
import type { Version } from '#kernel/base/brands.ts';
import { REASON_HEADER } from '#kernel/base/reason.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import { SIGNATURE_HEADER } from '#kernel/base/signature.ts';
import type { CommandContext } from '#shared/command-gateway/command-gateway.ts';

/** The sender and the request of a command, with the preconditions in its headers. */
export const contextOf = (
  request: Request,
  operation: RestOperation,
  { requireIfMatch }: { requireIfMatch: boolean },
): CommandContext => ({
  caller: callerOf(request),
  requestId: requestIdOf(request),
  trace: traceparentOf(request),
  idempotencyKey: idempotencyKeyOf(request),
  reason: reasonIn(request, operation),
  signature: signatureIn(request, operation),
  // A resource that is about to be created has no version yet.
  ...(operation.answer.status === 201 && !operation.answer.isOfItem
    ? {}
    : conditionsOf(request, requireIfMatch)),
});

const KEY = /^[\x21-\x7e]{1,255}$/;

export const idempotencyKeyOf = (request: Request): string | undefined => {
  const key = request.get('Idempotency-Key');
  if (key === undefined || KEY.test(key)) return key;
  throw new HttpProblem('malformed_request', {
    detail: 'Idempotency-Key must be 1 to 255 visible ASCII characters.',
  });
};

/** Checked with the command, like its form. */
const reasonIn = (request: Request, { reason }: RestOperation): string | undefined => {
  const given = request.get(REASON_HEADER);
  if (given === undefined) return undefined;
  if (reason === undefined)
    throw new HttpProblem('malformed_request', {
      detail: `${REASON_HEADER}: this operation records no reason, so send none.`,
    });
  try {
    return decodeURIComponent(given);
  } catch (cause) {
    throw new HttpProblem('malformed_request', {
      detail: `${REASON_HEADER} must be UTF-8 in percent-encoding: é is %C3%A9, and a percent sign is %25.`,
      cause,
    });
  }
};

const signatureIn = (request: Request, { isSigned }: RestOperation): string | undefined => {
  const given = request.get(SIGNATURE_HEADER);
  if (given === undefined || isSigned) return given;
  throw new HttpProblem('malformed_request', {
    detail: `${SIGNATURE_HEADER}: nobody signs this operation, so send none.`,
  });
};

/** No item has this version, so that a foreign tag matches nothing. */
const NO_VERSION = 0;

const conditionsOf = (
  request: Request,
  isRequired: boolean,
): Pick<CommandContext, 'ifVersion' | 'unlessVersion'> => {
  if (isRequired && request.get('If-Match') === undefined) throw new HttpProblem('precondition_required');
  const demanded = versionsDemandedBy(request)?.map(versionOf);
  const forbidden = versionsForbiddenBy(request);
  return {
    // A single version is sent as one, because the digest under an idempotency key distinguishes the two
    // forms.
    ifVersion: demanded?.length === 1 ? demanded[0] : demanded,
    unlessVersion: forbidden === 'any' ? forbidden : forbidden?.map(versionOf),
  };
};

const versionOf = (version: number): Version => Math.max(version, NO_VERSION) as Version;
