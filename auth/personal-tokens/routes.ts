import type { IncomingMessage } from 'node:http';
import { type Request, type RequestHandler, Router } from 'express';
import * as z from 'zod';
import { callerOf, signInOf } from '#edge/authenticate/authenticate.ts';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { readJsonBody } from '#edge/http/json-body.ts';
import { parseInput } from '#edge/http/parse-input.ts';
import { requestIdOf } from '#edge/http/request-context.ts';
import type { UserId } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { routeOf } from '#kernel/base/rest/operation.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { authorize, type Caller } from '#shared/policy.ts';
import { personalTokenForms, personalTokenOperations } from '#shared/rest/personal-tokens.ts';
import { mustConfirm } from '../accounts/confirmed.ts';
import { securityContextOf } from '../clients/by.ts';
import { demandScopes } from '../clients/demand-rights.ts';
import { type NotifyDependencies, notifyOfChange } from '../mail/notify-of-change.ts';
import type { OwnAccountDependencies } from '../own-account/dependencies.ts';
import { answerJson, forPrograms, isProgram } from '../rest/answer-json.ts';
import { writeRoute } from '../rest/write-route.ts';
import { type KeyedWrites, type Settle, settling, type Written } from '../storage/keyed-writes.ts';
import {
  daysFromNow,
  LIFETIME_DAYS_MAX,
  type MadeToken,
  type OwnTokens,
  type PersonalToken,
} from './personal-tokens.ts';

type Dependencies = NotifyDependencies &
  Pick<OwnAccountDependencies, 'pool' | 'secondFactors' | 'clock'> & {
    readonly domain: Domain;
    readonly ownTokens: OwnTokens;
    readonly keyedWrites: KeyedWrites;
  };

const BODY_BYTES_MAX = 16_384;
/** The same as for the account pages. */
export const SIGN_IN_MAX_S = 600;
const MS_PER_SECOND = 1_000;

type Write<Names extends Readonly<Record<string, string>>> = (
  request: Request<Names>,
  settle: Settle,
) => Promise<Written>;

type Own = Extract<Caller, { kind: 'user' }>;

/** One's own personal access tokens, for programs; the page for browsers is at the same path. */
export const personalTokenRoutes = (dependencies: Dependencies): Router => {
  const {
    listPersonalTokens: list,
    createPersonalToken,
    revokePersonalToken: one,
  } = personalTokenOperations(dependencies.domain);
  const write = <Names extends Readonly<Record<string, string>>>(execute: Write<Names>) =>
    writeRoute(dependencies.keyedWrites, execute);
  const read = readJsonBody(BODY_BYTES_MAX, Object.keys(createPersonalToken.body));
  const shared = Router()
    .all(routeOf(list), forPrograms)
    .get(routeOf(list), show(dependencies))
    .post(routeOf(list), ...read, demandFresh(dependencies), write(create(dependencies)))
    .all(routeOf(list), refuseOtherMethods('GET', 'HEAD', 'POST'));
  return Router()
    .use((request, response, next) => (isProgram(request) ? shared(request, response, next) : next()))
    .all(routeOf(one), forPrograms)
    .delete(routeOf(one), demandOwner, write(remove(dependencies)))
    .all(routeOf(one), refuseOtherMethods('DELETE'));
};

/** The owner of the tokens: the caller. */
const ownerIn = (request: IncomingMessage): Own => {
  const caller = callerOf(request);
  const answer = authorize(caller, 'token.manage', {});
  if (answer !== 'allowed') throw answer;
  if (caller.kind !== 'user') throw new Rejection('unauthenticated');
  return caller;
};

const show =
  ({ ownTokens }: Dependencies): RequestHandler =>
  async (request, response) => {
    const { userId } = ownerIn(request);
    answerJson(request, response, {
      text: JSON.stringify((await ownTokens.of(userId)).map(representationOf)),
      version: 0,
    });
  };

const create =
  (dependencies: Dependencies): Write<Readonly<Record<string, string>>> =>
  async (request, settle) => {
    const caller = ownerIn(request);
    const wanted = parseInput(formIn(dependencies), request.body);
    demandScopes(caller, wanted.scopes);
    if (await mustConfirm(dependencies, caller.userId)) throw new Rejection('address_not_confirmed');
    const by = securityContextOf({ caller, requestId: requestIdOf(request) });
    const answer = ({ made, secret }: MadeToken): Written => ({
      status: 201,
      location: `/account/tokens/${made.id}`,
      text: JSON.stringify({ ...representationOf(made), token: secret }),
    });
    const created = await dependencies.ownTokens.make(caller.userId, wanted, by, settling(settle, answer));
    if (created === undefined) throw new Rejection('too_many_tokens');
    notifyOfToken(dependencies, caller, created.made);
    return answer(created);
  };

const demandOwner: RequestHandler = (request, _response, next) => {
  ownerIn(request);
  next();
};

/** Checked for a repetition too: its response contains the token. */
const demandFresh =
  (dependencies: Dependencies): RequestHandler =>
  async (request, _response, next) => {
    const { userId } = ownerIn(request);
    parseInput(formIn(dependencies), request.body);
    if (!(await isFresh(dependencies, request, userId)))
      throw new Rejection('sign_in_too_old', { maxAge: SIGN_IN_MAX_S });
    next();
  };

/**
 * The same as for the page: a sign-in by the password alone does not count for a user who has codes, even if
 * it was before they turned them on.
 */
export const isFresh = async (
  { secondFactors }: { readonly secondFactors: Pick<Dependencies['secondFactors'], 'of'> },
  request: IncomingMessage,
  userId: UserId,
): Promise<boolean> => {
  const { atS = 0, isMultiFactor = false } = signInOf(request) ?? {};
  if (Date.now() / MS_PER_SECOND - atS > SIGN_IN_MAX_S) return false;
  return isMultiFactor || (await secondFactors.of(userId)) === undefined;
};

/** A token cannot create tokens, and lives for a year at most. */
const formIn = ({ domain, clock }: Pick<Dependencies, 'domain' | 'clock'>) =>
  personalTokenForms(domain).NewPersonalToken.transform(({ expiresAt, ...wanted }, context) => {
    const at = new Date(expiresAt);
    if (at.getTime() > clock.nowMs() && at <= daysFromNow(clock, LIFETIME_DAYS_MAX))
      return { ...wanted, expiresAt: at };
    context.addIssue({
      code: 'custom',
      path: ['expiresAt'],
      message: `Must be within ${LIFETIME_DAYS_MAX} days from now.`,
    });
    return z.NEVER;
  });

const remove =
  ({ ownTokens }: Dependencies): Write<{ tokenId: string }> =>
  async (request, settle) => {
    const caller = ownerIn(request);
    const by = securityContextOf({ caller, requestId: requestIdOf(request) });
    await ownTokens.revoke(caller.userId, [request.params.tokenId], by, async (connection, revoked) => {
      if (revoked.length === 0) throw new Rejection('token_not_found');
      await settle(connection, REVOKED);
    });
    return REVOKED;
  };

const REVOKED: Written = { status: 204 };

/** Mails the owner, so that they learn of a token that somebody else created. */
export const notifyOfToken = (
  dependencies: NotifyDependencies,
  owner: { readonly userId: UserId },
  { name }: Pick<PersonalToken, 'name'>,
): void =>
  notifyOfChange(
    dependencies,
    owner,
    `a personal access token was created for your account: “${name}”. Programs that have it act for you until it expires or you revoke it.`,
    'A personal access token was created',
  );

const representationOf = ({ id, name, scopes, madeAt, expiresAt, usedAt }: PersonalToken) => ({
  id,
  name,
  scopes,
  createdAt: madeAt.toISOString(),
  expiresAt: expiresAt.toISOString(),
  lastUsedAt: usedAt?.toISOString() ?? null,
  _links: { revoke: { href: `/account/tokens/${id}`, method: 'DELETE' } },
});
