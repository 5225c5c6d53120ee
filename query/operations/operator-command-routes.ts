import { hash } from 'node:crypto';
import { type Request, type Response, Router } from 'express';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import { readJsonBody } from '#edge/http/json-body.ts';
import { parseInput } from '#edge/http/parse-input.ts';
import { requestIdOf } from '#edge/http/request-context.ts';
import { demandAdmission } from '#edge/rest/admission.ts';
import { mediaTypeFor } from '#edge/rest/media-type.ts';
import { idempotencyKeyOf } from '#edge/rest/writes/context.ts';
import { itemOf } from '#edge/rest/writes/item.ts';
import type { Version } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { routeOf } from '#kernel/base/rest/operation.ts';
import {
  findOperatorCommand,
  type NewOperatorCommand,
  type OperatorRequest,
  requestOperatorCommand,
} from '#process/operations/operator-commands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { actorOf, authorize } from '#shared/policy.ts';
import { findParked } from '#shared/read-model/parked.ts';
import { NewRelease, OPERATOR_OPERATIONS } from '#shared/rest/operator-operations.ts';
import { readFailureOf } from '../rows/statement.ts';
import { representOperatorCommand } from './representation.ts';

type Dependencies = { readonly pool: Pool; readonly bodyBytesMax: number };

const { retryParkedItem: RETRY, releaseParkedItem: RELEASE } = OPERATOR_OPERATIONS;

/** Records operator commands; the roles concerned execute them. */
export const operatorCommandRoutes = ({ pool, bodyBytesMax }: Dependencies): Router => {
  const put = (request: Request, response: Response, command: NewOperatorCommand): Promise<void> =>
    answerOperatorCommand(pool, { request, response }, command);
  return Router()
    .post(routeOf(RETRY), demandAdmission(RETRY), demandOperator, async (request, response) =>
      put(request, response, { kind: 'retry', ...itemOf(RETRY, request) }),
    )
    .post(
      routeOf(RELEASE),
      demandAdmission(RELEASE),
      demandOperator,
      ...readJsonBody(bodyBytesMax, Object.keys(RELEASE.body)),
      async (request, response) => {
        if (request.body === undefined)
          throw new HttpProblem('malformed_body', { detail: 'There is no body.' });
        const { version } = parseInput(NewRelease, request.body);
        await put(request, response, {
          kind: 'release',
          ...itemOf(RELEASE, request),
          version: version as Version,
        });
      },
    );
};

type Exchange = { readonly request: Request; readonly response: Response };

/** Records a command of the caller, and returns it as it was recorded. */
export const answerOperatorCommand = async (
  pool: Pool,
  { request, response }: Exchange,
  command: NewOperatorCommand,
): Promise<void> => {
  const id = await requestOperatorCommand(pool, command, requestOf(request, command), (connection) =>
    demandParked(connection, command),
  ).catch(throwReadFailure);
  const asked = await findOperatorCommand(pool, id);
  if (asked === undefined) throw new Error(`the command ${id} was recorded and is missing`);
  response.status(202).set('Cache-Control', 'no-store').location(`/operations/orders/${id}`);
  response.type(mediaTypeFor(request)).send(JSON.stringify(representOperatorCommand(asked)));
};

/** Callers without the right do not learn whether an aggregate is parked. */
const demandOperator = (request: Request, _response: Response, next: () => void): void => {
  const answer = authorize(callerOf(request), 'operations.manage', {});
  if (answer !== 'allowed') throw answer;
  next();
};

/** Refuses early; the role that executes the command checks again. */
const demandParked = async (
  connection: Connection,
  { kind, stream, version }: NewOperatorCommand,
): Promise<void> => {
  if (stream === undefined) return;
  const parked = await findParked(connection, stream);
  if (!parked) throw new Rejection('not_parked');
  if (kind === 'release' && parked.version !== version)
    throw new Rejection('parked_at_other_version', { version: parked.version });
};

const requestOf = (request: Request, command: NewOperatorCommand): OperatorRequest => {
  const caller = callerOf(request);
  const by = actorOf(caller);
  const client = caller.kind === 'user' ? caller.client : null;
  const key = idempotencyKeyOf(request);
  const digest = (value: readonly unknown[]) => hash('sha256', JSON.stringify(value), 'base64url');
  // Keys are per user and client.
  return {
    by,
    client,
    request: requestIdOf(request),
    key:
      key === undefined
        ? undefined
        : {
            digest: digest([by, client, key]),
            content: digest([command.kind, command.stream, command.version]),
          },
  };
};

const throwReadFailure = (cause: unknown): never => {
  throw readFailureOf(cause);
};
