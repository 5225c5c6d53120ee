import { type Request, type RequestHandler, Router } from 'express';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { requestIdOf } from '#edge/http/request-context.ts';
import type { UserId } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { routeOf } from '#kernel/base/rest/operation.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { authorize, type Caller, isAgent } from '#shared/policy.ts';
import { managedAccountOperations } from '#shared/rest/managed-accounts.ts';
import { personalTokenOperations } from '#shared/rest/personal-tokens.ts';
import { waitSeconds } from '../accounts/sign-in-limits.ts';
import { securityContextOf } from '../clients/by.ts';
import type { Persons } from '../directory.ts';
import { isFresh, SIGN_IN_MAX_S } from '../personal-tokens/routes.ts';
import { forPrograms } from '../rest/answer-json.ts';
import type { SecondFactors } from '../second-factor/second-factors.ts';
import type { PersonExports } from './person-exports.ts';

type Dependencies = {
  readonly domain: Domain;
  readonly persons: Pick<Persons, 'byId'>;
  readonly secondFactors: Pick<SecondFactors, 'of'>;
  readonly exports: PersonExports;
};

type User = Extract<Caller, { kind: 'user' }>;

/** Exports of a person for programs, in which a person has just signed in: their own, or by an administrator. */
export const personExportRoutes = (dependencies: Dependencies): Router => {
  const { domain } = dependencies;
  const { exportPerson } = managedAccountOperations(domain);
  const { exportOwnData } = personalTokenOperations(domain);
  const router = Router();
  for (const [operation, userOf] of [
    [exportPerson, personIn(dependencies)],
    [exportOwnData, async (_request: Request, { userId }: User) => userId],
  ] as const) {
    const handle: RequestHandler = async (request, response) => {
      const caller = await freshPerson(dependencies, request, operation.right);
      const by = securityContextOf({ caller, requestId: requestIdOf(request) });
      const userId = await userOf(request, caller);
      response.vary('Authorization');
      const outcome = await dependencies.exports.send({ userId, format: 'json', by, response });
      if (!outcome.isDone)
        throw new HttpProblem('rate_limited', {
          headers: { 'Retry-After': String(waitSeconds(outcome.waitMs)) },
        });
    };
    router
      .all(routeOf(operation), forPrograms)
      .post(routeOf(operation), handle)
      .all(routeOf(operation), refuseOtherMethods('POST'));
  }
  return router;
};

/** Agents, tokens and services never get it, whatever their rights: it is everything at once. */
const freshPerson = async (
  dependencies: Dependencies,
  request: Request,
  right: 'account.manage' | 'token.manage',
): Promise<User> => {
  const caller = callerOf(request);
  const answer = authorize(caller, right, {});
  if (answer !== 'allowed') throw answer;
  if (caller.kind !== 'user') throw new Rejection('unauthenticated');
  if (isAgent(caller)) throw new Rejection('forbidden');
  if (!(await isFresh(dependencies, request, caller.userId)))
    throw new Rejection('sign_in_too_old', { maxAge: SIGN_IN_MAX_S });
  return caller;
};

const personIn =
  ({ persons }: Dependencies) =>
  async ({ params: { userId } }: Request, _caller: User): Promise<UserId> => {
    const id = typeof userId === 'string' ? pathId(userId) : undefined;
    const person = id === undefined ? undefined : await persons.byId(id as UserId);
    if (person === undefined) throw new Rejection('user_not_found');
    if (person.status === 'deleted') throw new Rejection('user_deleted');
    return person.userId;
  };
