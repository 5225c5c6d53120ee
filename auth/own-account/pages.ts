import { randomBytes } from 'node:crypto';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import * as z from 'zod';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { ACCOUNT_CLIENT_ID } from '#shared/policy.ts';
import type { Credentials } from '../accounts/credentials.ts';
import { fieldsOf, formToken, readForm } from '../accounts/form.ts';
import { PageRefusal } from '../accounts/page-refusal.ts';
import type { AccountView } from '../pages/account/account-page.ts';
import type { FormTokens } from '../pages/form-token.ts';
import { FORGED, messagePage } from '../pages/message-page.ts';
import type { SecondFactors } from '../second-factor/second-factors.ts';
import { SIGNED_IN_PATH } from './account-client.ts';
import { hasPassword, SIGNED_IN_JUST_S } from './confirm-password.ts';
import { type Visitor, visitorOf } from './visitor.ts';

/** One account page. Its form posts to the page's own path. */
export type AccountPage = {
  readonly path: string;
  /** Requires a sign-in within the last minutes, against strangers at an open browser. */
  readonly isSensitive?: boolean;
  /** Its form asks for the password; people without one have just signed in instead. */
  readonly demandsPassword?: boolean;
  readonly isForAdmins?: boolean;
  /** Links in mail lead here: the link's secret is kept during the sign-in. */
  readonly hasLink?: boolean;
  show(visitor: Visitor): Promise<void>;
  submit?(visitor: Visitor): Promise<void>;
};

type PageDependencies = Parameters<typeof visitorOf>[0] & {
  readonly tokens: FormTokens;
  readonly issuerUrl: string;
  readonly secondFactors: Pick<SecondFactors, 'of'>;
  readonly credentials: Pick<Credentials, 'changedAt'>;
};

const MINUTE_S = 60;
/** A visitor may look at a form for a while before sending it. */
const FRESH_S = { show: 10 * MINUTE_S, submit: 30 * MINUTE_S } as const;

/**
 * Serves a page to signed-in visitors, and accepts only forms that were made for them. Others sign in first
 * and return.
 */
export const routesOf = (
  dependencies: PageDependencies,
  { path, show, submit, ...page }: AccountPage,
): Router => {
  const admit =
    (step: keyof typeof FRESH_S, handle: AccountPage['show']): RequestHandler =>
    async (request, response) => {
      const visitor = await visitorOf(dependencies, { request, response, path });
      if (visitor === undefined || (page.isSensitive && !(await isFresh(dependencies, visitor, page, step))))
        return goToSignIn(dependencies, response, {
          path: page.hasLink ? pathWithLink(path, request) : path,
          again: visitor !== undefined,
        });
      if (page.isForAdmins && visitor.role !== 'admin') throw new PageRefusal(NOT_THERE);
      if (step === 'submit') demandToken(dependencies, visitor);
      return handle(visitor);
    };
  const router = Router().get(path, admit('show', show));
  if (submit !== undefined) router.post(path, ...readForm, admit('submit', submit));
  return router.all(path, refuseOtherMethods('GET', 'HEAD', ...(submit ? ['POST'] : [])));
};

const pathWithLink = (path: string, { query: { link } }: Pick<Request, 'query'>): string =>
  typeof link === 'string' ? `${path}?link=${link}` : path;

/** If a second factor is set up, a sign-in by password alone does not count here, even an earlier one. */
const isFresh = async (
  dependencies: PageDependencies,
  visitor: Visitor,
  { demandsPassword = false }: Pick<AccountPage, 'demandsPassword'>,
  step: keyof typeof FRESH_S,
): Promise<boolean> => {
  const ageS = visitor.signInAgeS;
  if (ageS >= FRESH_S[step]) return false;
  const isMissing = demandsPassword && !(await hasPassword(dependencies, visitor.userId));
  if (isMissing && ageS >= SIGNED_IN_JUST_S[step]) return false;
  return visitor.isMultiFactor || (await dependencies.secondFactors.of(visitor.userId)) === undefined;
};

const NOT_THERE = messagePage({
  status: 404,
  title: 'Page not found',
  text: 'Go back to your account.',
});

const Token = z.object({ token: formToken });

/** Binds to this session, this person and this page. */
export const boundTo = ({ sessionUid, userId, path }: Visitor): readonly string[] => [
  sessionUid,
  String(userId),
  path,
];

const demandToken = ({ tokens }: PageDependencies, visitor: Visitor): void => {
  const { token } = fieldsOf(Token, visitor.request);
  if (!tokens.verify(token, 'account', boundTo(visitor))) throw new PageRefusal(FORGED);
};

/** The content that all pages share. `done` maps the names in the query to texts about what was just done. */
export const viewOf = (
  { tokens }: Pick<PageDependencies, 'tokens'>,
  visitor: Visitor,
  done: Readonly<Record<string, string>> = {},
): AccountView => {
  const { done: what } = visitor.request.query;
  return {
    token: tokens.issue('account', boundTo(visitor)),
    isAdmin: visitor.role === 'admin',
    served: visitor.policy.domain,
    done: typeof what === 'string' && Object.hasOwn(done, what) ? done[what] : undefined,
  };
};

/** Redirects to the page, so that a reload does not repeat the form, and reports what was done. */
export const goTo = ({ response }: Pick<Visitor, 'response'>, path: string, done?: string): void =>
  response.redirect(303, done === undefined ? path : `${path}?done=${done}`);

const CHALLENGE_BYTES = 32;

/** `again`: asks for the password even with a session. */
const goToSignIn = (
  { issuerUrl }: PageDependencies,
  response: Response,
  { path, again }: { path: string; again: boolean },
): void => {
  const query = new URLSearchParams({
    client_id: ACCOUNT_CLIENT_ID,
    redirect_uri: `${issuerUrl}${SIGNED_IN_PATH}`,
    code_challenge: randomBytes(CHALLENGE_BYTES).toString('base64url'),
    state: path,
    ...(again && { prompt: 'login' }),
  });
  response.set('Cache-Control', 'no-store').redirect(303, `${issuerUrl}/authorize?${query}`);
};

const OWN_PATH = /^\/account(?:\/[a-z-]{1,40}){0,2}(?:\?link=[\w-]{1,500})?$/;

const NOT_SIGNED_IN = messagePage({
  status: 403,
  title: 'You are not signed in',
  text: 'Sign in to see your account.',
  link: { url: '/account', text: 'Sign in' },
});

/** Where the sign-in returns: redirects to the requested page, and only ever to one of these pages. */
export const signedInRoutes = (): Router =>
  Router()
    .get(SIGNED_IN_PATH, ({ query: { error, state } }, response) => {
      if (error !== undefined) throw new PageRefusal(NOT_SIGNED_IN);
      const path =
        typeof state === 'string' && OWN_PATH.test(state) && state !== SIGNED_IN_PATH ? state : '/account';
      response.set('Cache-Control', 'no-store').redirect(303, path);
    })
    .all(SIGNED_IN_PATH, refuseOtherMethods('GET', 'HEAD'));
