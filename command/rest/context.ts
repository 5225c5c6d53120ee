import type { Request } from 'express';
import type { Version } from '#shared/brands.ts';
import type { CommandContext } from '#shared/command-gateway/command-gateway.ts';
import { callerOf } from '#shared/http/authenticate/authenticate.ts';
import { versionDemandedBy } from '#shared/http/entity-tag.ts';
import { HttpProblem } from '#shared/http/http-problem.ts';
import { requestIdOf } from '#shared/http/request-context.ts';
import type { RestOperation } from '#shared/rest/operation.ts';

/** Who sends a command by which request, and what its headers demand. */
export const contextOf = (request: Request, operation: RestOperation, { requireIfMatch }: { requireIfMatch: boolean }): CommandContext => ({
  caller: callerOf(request),
  requestId: requestIdOf(request),
  idempotencyKey: operation.method === 'POST' ? idempotencyKeyOf(request) : undefined,
  // What is about to be created has no version yet.
  ifVersion: operation.answer.status === 201 ? undefined : versionOf(request, requireIfMatch),
});

const KEY = /^[\x21-\x7e]{1,255}$/;

const idempotencyKeyOf = (request: Request): string | undefined => {
  const key = request.get('Idempotency-Key');
  if (key === undefined || KEY.test(key)) return key;
  throw new HttpProblem('malformed_request', { detail: 'Idempotency-Key must be 1 to 255 visible ASCII characters.' });
};

/** Nothing that is there has it, so that a tag which is none of ours matches nothing. */
const NO_VERSION = 0;

const versionOf = (request: Request, isRequired: boolean): Version | undefined => {
  if (isRequired && request.get('If-Match') === undefined) throw new HttpProblem('precondition_required');
  const version = versionDemandedBy(request);
  return version === undefined ? undefined : (Math.max(version, NO_VERSION) as Version);
};
