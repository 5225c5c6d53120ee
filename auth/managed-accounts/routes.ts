// Over 200 lines, because it is one interface: the accounts of others, all for the same right.
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import { revoke } from '#edge/authenticate/revocations.ts';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { readJsonBody } from '#edge/http/json-body.ts';
import { parseInput } from '#edge/http/parse-input.ts';
import { requestIdOf } from '#edge/http/request-context.ts';
import type { UserId } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { routeOf } from '#kernel/base/rest/operation.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import { leastRoleOf } from '#kernel/registry/roles.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { untilProblem } from '#shared/persons/invited-until.ts';
import { ACCOUNT_CLIENT_ID, authorize, rightByMethod } from '#shared/policy.ts';
import {
  type EndedAccess,
  invitationForms,
  managedAccountOperations,
} from '#shared/rest/managed-accounts.ts';
import { waitSeconds } from '../accounts/sign-in-limits.ts';
import { securityContextOf } from '../clients/by.ts';
import { demandRoleGiver } from '../clients/demand-rights.ts';
import { invitationMessage } from '../mail/messages.ts';
import { notifyOfChange } from '../mail/notify-of-change.ts';
import type { OwnAccountDependencies } from '../own-account/dependencies.ts';
import { allSessions, end, everything, oneApplication, oneSession } from '../own-account/end-access.ts';
import { PER_INVITER } from '../own-account/invitations.ts';
import { invitationLink } from '../pages/invited-pages.ts';
import { deactivatePerson, type Person, reactivatePerson } from '../persons/person-table.ts';
import { answerJson, forPrograms, isProgram } from '../rest/answer-json.ts';
import { writeRoute } from '../rest/write-route.ts';
import { CONSOLE } from '../storage/client.ts';
import type { Chosen, EndedAccess as Ended } from '../storage/end-access.ts';
import { type Settle, type SettleResult, settling, type Written } from '../storage/keyed-writes.ts';
import { type AccountDependencies, readAccount } from './account.ts';

type Dependencies = AccountDependencies &
  Pick<
    OwnAccountDependencies,
    | 'readPerson'
    | 'readProfile'
    | 'record'
    | 'endAccess'
    | 'invitations'
    | 'attempts'
    | 'post'
    | 'issuerUrl'
    | 'keyedWrites'
    | 'clock'
  >;
type End = (request: Parameters<Handler>[0]) => Promise<void>;
type EndAll = (request: Parameters<Handler>[0], settle: SettleResult<Ended>) => Promise<Ended>;
type Write = (request: Parameters<Handler>[0], settle: Settle) => Promise<Written>;
type Handler = (request: Request<Readonly<Record<string, string>>>, response: Response) => Promise<void>;

const BODY_BYTES_MAX = 4_096;

/** Other people's accounts, for administrators with the scope `manage:accounts`. */
export const managedAccountRoutes = (dependencies: Dependencies): Router => {
  const operations = managedAccountOperations(dependencies.domain);
  const { getAccount, deactivateAccount, reactivateAccount, listInvitations: list, invite } = operations;
  const {
    endAccess,
    endSessions,
    endSession,
    endApplication,
    endTokenOfUser,
    unlinkIdentity,
    revokeInvitation,
  } = operations;
  const { people, invitations } = handlersOf(dependencies);
  const read = readJsonBody(BODY_BYTES_MAX, Object.keys(invite.body));
  const shared = Router()
    .all(routeOf(list), forPrograms)
    .get(routeOf(list), demandManager, invitations.list)
    .post(routeOf(list), demandManager, ...read, writeRoute(dependencies.keyedWrites, invitations.make))
    .all(routeOf(list), refuseOtherMethods('GET', 'HEAD', 'POST'));
  const router = Router()
    .use((request, response, next) => (isProgram(request) ? shared(request, response, next) : next()))
    .all(routeOf(getAccount), forPrograms)
    .get(routeOf(getAccount), demandManager, people.show)
    .all(routeOf(getAccount), refuseOtherMethods('GET', 'HEAD'));
  for (const [{ path, method }, handle] of [
    [deactivateAccount, finish(people.deactivate)],
    [reactivateAccount, finish(people.reactivate)],
    [endAccess, count(people.endAccess)],
    [endSessions, count(people.endSessions)],
    [endSession, finish(people.endSession)],
    [endApplication, finish(people.endApplication)],
    [endTokenOfUser, finish(people.endToken)],
    [unlinkIdentity, finish(people.unlinkIdentity)],
    [revokeInvitation, finish(invitations.revoke)],
  ] as const) {
    const route = path.replaceAll(/\{(\w+)\}/g, ':$1');
    router.all(
      route,
      forPrograms,
      (request, _response, next) => (request.method === method ? next() : next('route')),
      demandManager,
      writeRoute(dependencies.keyedWrites, handle),
    );
    router.all(route, refuseOtherMethods(method));
  }
  return router;
};

const demandManager: RequestHandler = (request, _response, next) => {
  const caller = callerOf(request);
  const answer = authorize(caller, rightByMethod(caller, 'account.manage', request.method), {});
  if (answer !== 'allowed') throw answer;
  next();
};

/** These have the same effect and response if they are executed again. */
const finish =
  (work: End): Write =>
  async (request) => {
    await work(request);
    return { status: 204 };
  };

/** Nothing is left to count if these are executed again. */
const count =
  (work: EndAll): Write =>
  async (request, settle) =>
    numbersOf(await work(request, settling(settle, numbersOf)));

const byIn = (request: Request<Readonly<Record<string, string>>>) =>
  securityContextOf({ caller: callerOf(request), requestId: requestIdOf(request) });

const handlersOf = (dependencies: Dependencies) => ({
  people: peopleHandlers(dependencies),
  invitations: invitationHandlers(dependencies),
});

const peopleHandlers = (dependencies: Dependencies) => {
  const { pool, persons, ownTokens, readPerson, record } = dependencies;
  /** The person in the path; refuses a deleted one. */
  const personIn = async ({
    params: { userId = '' },
  }: {
    readonly params: Readonly<Record<string, string>>;
  }): Promise<Person> => {
    const id = pathId(userId);
    const person = id === undefined ? undefined : await persons.byId(id as UserId);
    if (person === undefined) throw new Rejection('user_not_found');
    if (person.status === 'deleted') throw new Rejection('user_deleted');
    return person;
  };
  const endOf = async (request: Parameters<End>[0], chosen: Chosen, settle?: SettleResult<Ended>) =>
    end(dependencies, { userId: (await personIn(request)).userId, by: byIn(request) }, chosen, settle);
  return {
    show: (async (request, response) => {
      const account = await readAccount(dependencies, await personIn(request));
      answerJson(request, response, { text: JSON.stringify(account), version: 0 });
    }) satisfies Handler,
    deactivate: (async (request) => {
      const { userId } = await personIn(request);
      const isDone = await inTransaction(pool, async (connection) => {
        if (!(await deactivatePerson(connection, userId))) return false;
        if ((await readPerson(userId))?.role === 'admin') throw new Rejection('account_of_administrator');
        // In the same transaction, so that no token issued in between survives it.
        await revoke(connection, 'user', String(userId));
        return true;
      });
      if (!isDone) return;
      await record({ type: 'account.deactivated', data: { userId } }, byIn(request));
      await end(dependencies, { userId, by: byIn(request) }, allSessions());
    }) satisfies End,
    reactivate: (async (request) => {
      const { userId } = await personIn(request);
      if (await reactivatePerson(pool, userId))
        await record({ type: 'account.reactivated', data: { userId } }, byIn(request));
    }) satisfies End,
    endAccess: ((request, settle) => endOf(request, everything(), settle)) satisfies EndAll,
    endSessions: ((request, settle) => endOf(request, allSessions(), settle)) satisfies EndAll,
    endSession: (async (request) => {
      await endOf(request, oneSession(request.params.sessionId ?? ''));
    }) satisfies End,
    endApplication: (async (request) => {
      await endOf(request, oneApplication(request.params.clientId ?? ''));
    }) satisfies End,
    unlinkIdentity: (async (request) => {
      const { userId } = await personIn(request);
      if (!(await dependencies.identities.remove(userId, request.params.identityId ?? '', byIn(request))))
        return;
      const what = 'An administrator unlinked an account at an identity provider from your account.';
      notifyOfChange(dependencies, { userId }, what);
    }) satisfies End,
    endToken: (async (request) => {
      const { userId } = await personIn(request);
      await ownTokens.revoke(userId, [request.params.tokenId ?? ''], byIn(request));
    }) satisfies End,
  };
};

/** The console is no application here: it ends with its session. */
const numbersOf = ({ sessions, grants, tokenIds }: Ended): Written => {
  const numbers: EndedAccess = {
    sessions: sessions.length,
    applications: new Set(grants.map(({ clientId }) => clientId).filter((id) => !OURS.has(id ?? ''))).size,
    tokens: tokenIds.length,
  };
  return { status: 200, text: JSON.stringify(numbers) };
};
const OURS: ReadonlySet<string> = new Set([CONSOLE, ACCOUNT_CLIENT_ID]);

type Wanted = { readonly email: string; readonly role: string; readonly until?: string | undefined };

const invitationHandlers = ({ domain, invitations, attempts, post, issuerUrl, clock }: Dependencies) => {
  const { NewInvitation } = invitationForms(domain);
  return {
    list: (async (request, response) => {
      const shown = (await invitations.list()).map(({ id, email, role, until, expiresAt }) => ({
        id,
        email,
        role,
        until,
        expiresAt: expiresAt.toISOString(),
      }));
      answerJson(request, response, { text: JSON.stringify(shown), version: 0 });
    }) satisfies Handler,
    make: (async (request, settle) => {
      const wanted: Wanted = parseInput(NewInvitation, request.body);
      const detail = untilProblem(domain, wanted, clock.nowMs());
      if (detail !== undefined)
        throw new HttpProblem('invalid_request', { extensions: { errors: [{ pointer: '/until', detail }] } });
      if (wanted.role !== domain.signUp && wanted.role !== leastRoleOf(domain))
        demandRoleGiver(callerOf(request));
      const by = byIn(request);
      const taken = await attempts.take(PER_INVITER, by.actor);
      if (!taken.granted)
        throw new HttpProblem('rate_limited', {
          headers: { 'Retry-After': String(waitSeconds(taken.waitMs)) },
        });
      const answer = (secret: string): Written => {
        const link = post.isThere ? null : invitationLink(issuerUrl, secret);
        return { status: 201, text: JSON.stringify({ ...wanted, link }) };
      };
      const made = await invitations.make(wanted, by, settling(settle, answer));
      if (made === undefined) throw new Rejection('email_taken');
      post.send(async () => invitationMessage({ to: wanted.email, link: invitationLink(issuerUrl, made) }));
      return answer(made);
    }) satisfies Write,
    revoke: (async (request) => {
      await invitations.revoke(request.params.invitationId ?? '', byIn(request));
    }) satisfies End,
  };
};
