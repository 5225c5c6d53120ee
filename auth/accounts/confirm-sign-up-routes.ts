import { type Request, type Response, Router } from 'express';
import * as z from 'zod';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { clientAddress } from '#edge/http/client-address.ts';
import { requestIdOf } from '#edge/http/request-context.ts';
import { traceparentOf } from '#edge/http/request-span.ts';
import type { Role } from '#kernel/base/events/fields.ts';
import { confirmSignUpMessage, hasAccountMessage } from '../mail/messages.ts';
import type { Post } from '../mail/post.ts';
import { PATHS } from '../pages/account/account-page.ts';
import { answerPage } from '../pages/answer-page.ts';
import { CONFIRM_PATH, confirmSignUpPage, signUpOverPage } from '../pages/confirm-sign-up-page.ts';
import type { FormTokens } from '../pages/form-token.ts';
import { FORGED } from '../pages/message-page.ts';
import type { Problems } from '../pages/parts/field.ts';
import { PASSWORD_MAX } from '../pages/parts/person-fields.ts';
import { RESET_PATH } from '../pages/reset-pages.ts';
import type { ReadProfile } from '../provider/profile.ts';
import type { Allowance, Attempts } from './attempts.ts';
import { confirm } from './confirmed.ts';
import { fieldsOf, formToken, readForm } from './form.ts';
import type { FormCookie } from './form-cookie.ts';
import { PageRefusal } from './page-refusal.ts';
import type { PendingSignUps } from './pending-sign-ups.ts';
import type { SecondStepDependencies } from './second-step.ts';
import { waitSeconds, waitText } from './sign-in-limits.ts';
import type { SignUpDependencies } from './sign-up.ts';
import { type SignedUp, signUp } from './sign-up.ts';
import type { SignUp } from './sign-up-form.ts';

export type SignUpRouteDependencies = SecondStepDependencies &
  SignUpDependencies &
  ConfirmationDependencies & {
    readonly tokens: FormTokens;
    readonly cookie: FormCookie;
    readonly attempts: Attempts;
    /** The role of a person who signs up; `off` if sign-up is closed. */
    readonly signUp: 'off' | Role;
  };

type ConfirmationDependencies = {
  readonly pending: PendingSignUps;
  readonly post: Post;
  readonly readProfile: ReadProfile;
  readonly issuerUrl: string;
  readonly emailHash: (email: string) => string;
};

/** Limits the password hashes that strangers can cause. */
const PER_ADDRESS: Allowance = { name: 'sign-up-confirm-address', burst: 30, intervalMs: 30_000 };

/**
 * Sends a link to the address that somebody typed. If the address has an account, its owner gets a notice
 * instead. Everything except the hash happens after the answer, so neither the page nor its timing reveals
 * which.
 */
export const askForConfirmation = async (
  dependencies: Pick<SignUpRouteDependencies, 'credentials' | 'persons'> & ConfirmationDependencies,
  { name, email, password }: Pick<SignUp, 'name' | 'email' | 'password'>,
): Promise<void> => {
  const { credentials, persons, pending, post, readProfile, issuerUrl } = dependencies;
  const phc = await credentials.hash(password);
  post.send(async () => {
    const owner = await persons.byEmail(email);
    if (owner === undefined) {
      const link = `${issuerUrl}${CONFIRM_PATH}?link=${await pending.make({ name, email, phc })}`;
      return confirmSignUpMessage({ to: email, name, link });
    }
    const { name: whom, email: to } = await readProfile(owner.userId);
    if (to === undefined) return undefined;
    return hasAccountMessage({
      to,
      name: whom,
      accountUrl: `${issuerUrl}${PATHS.home}`,
      resetUrl: `${issuerUrl}${RESET_PATH}`,
    });
  });
};

const LINK_MAX = 100;
const Confirm = z.object({
  token: formToken,
  link: z.string().max(LINK_MAX),
  password: z.string().max(PASSWORD_MAX),
});

/**
 * The target of the link. The account is made once the password is typed again, so the owner of the mailbox
 * cannot confirm a stranger's password by one click.
 */
export const confirmSignUpRoutes = (dependencies: SignUpRouteDependencies): Router =>
  Router()
    .get(CONFIRM_PATH, async (request, response) => {
      const { link } = request.query;
      if (typeof link !== 'string') throw new PageRefusal(signUpOverPage);
      await show(dependencies, { request, response }, { link, problems: {} });
    })
    .post(CONFIRM_PATH, ...readForm, (request, response) => submit(dependencies, request, response))
    .all(CONFIRM_PATH, refuseOtherMethods('GET', 'HEAD', 'POST'));

type Exchange = { readonly request: Request; readonly response: Response };
type Filled = { readonly link: string; readonly problems: Problems<'password'>; readonly status?: number };

const show = async (
  { tokens, cookie, pending }: SignUpRouteDependencies,
  { request, response }: Exchange,
  filled: Filled,
) => {
  const wanted = await pending.find(filled.link);
  if (wanted === undefined) throw new PageRefusal(signUpOverPage);
  const token = tokens.issue('confirm-sign-up', [cookie.settle(request, response)]);
  answerPage(response, confirmSignUpPage({ ...filled, token, email: wanted.email }));
};

const submit = async (
  dependencies: SignUpRouteDependencies,
  request: Request,
  response: Response,
): Promise<void> => {
  const { tokens, cookie, attempts, pending, credentials, pool, signUp: role, emailHash } = dependencies;
  const { token, link, password } = fieldsOf(Confirm, request);
  const known = cookie.read(request);
  if (known === undefined || !tokens.verify(token, 'confirm-sign-up', [known])) throw new PageRefusal(FORGED);
  const wanted = await pending.find(link);
  if (wanted === undefined || role === 'off') throw new PageRefusal(signUpOverPage);
  const again = (problems: Filled['problems'], status: number) =>
    show(dependencies, { request, response }, { link, problems, status });
  const taken = await attempts.take(PER_ADDRESS, clientAddress(request));
  if (!taken.granted) {
    response.set('Retry-After', String(waitSeconds(taken.waitMs)));
    return again({ form: `Too many attempts. Try again in ${waitText(taken.waitMs)}.` }, 429);
  }
  if (!(await credentials.matches(password, wanted.phc)))
    return again({ password: 'This is not the password that was chosen.' }, 422);
  const { id: formId, name, email } = wanted;
  const applicant = {
    formId,
    name,
    email,
    password,
    role,
    requestId: requestIdOf(request),
    trace: traceparentOf(request),
  };
  const result = await signUp(dependencies, applicant);
  if (result.outcome !== 'done')
    return again({ form: ANSWERS[result.outcome].text }, ANSWERS[result.outcome].status);
  await confirm(pool, { userId: result.person.userId, emailHash: emailHash(email) });
  await pending.end(link);
  response.redirect(303, '/sign-up/done');
};

const ANSWERS = {
  taken: {
    text: 'This address already has an account. Sign in with it, or choose a new password.',
    status: 409,
  },
  repeated: { text: 'This link was already used. Sign in.', status: 409 },
  busy: {
    text: 'The account may not have been created yet. Send the form again: you will not get two accounts.',
    status: 503,
  },
} as const satisfies Record<Exclude<SignedUp['outcome'], 'done'>, { text: string; status: number }>;
