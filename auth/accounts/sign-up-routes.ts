// Over 200 lines, because it is one form: the sign-up, alone and during a sign-in.
import { randomBytes } from 'node:crypto';
import { type Request, type Response, Router } from 'express';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { clientAddress } from '#edge/http/client-address.ts';
import { requestIdOf } from '#edge/http/request-context.ts';
import { traceparentOf } from '#edge/http/request-span.ts';
import { answerPage } from '../pages/answer-page.ts';
import { signUpAskedPage } from '../pages/confirm-sign-up-page.ts';
import { FORGED, messagePage } from '../pages/message-page.ts';
import { hasProblems } from '../pages/parts/field.ts';
import { type SignUpView, signedUpPage, signUpPage } from '../pages/sign-up-page.ts';
import type { Person } from '../persons/person-table.ts';
import type { Allowance } from './attempts.ts';
import {
  askForConfirmation,
  confirmSignUpRoutes,
  type SignUpRouteDependencies,
} from './confirm-sign-up-routes.ts';
import { fieldsOf, readForm } from './form.ts';
import { askedOf, formTargetsFor } from './interaction.ts';
import { PageRefusal } from './page-refusal.ts';
import { afterPassword } from './second-step.ts';
import { waitSeconds, waitText } from './sign-in-limits.ts';
import { type SignedUp, signUp } from './sign-up.ts';
import { problemsIn, SignUp } from './sign-up-form.ts';

/**
 * Without mail, a sign-up reveals whether an address has an account. Each also costs an estimate and a hash
 * or a message.
 */
const PER_ADDRESS: Allowance = { name: 'sign-up-address', burst: 30, intervalMs: 30_000 };
/** Limits mail to the owner of the address, whether or not they have an account. */
const PER_EMAIL: Allowance = { name: 'sign-up-email', burst: 5, intervalMs: 600_000 };

/** How a sign-up runs: within a sign-in, or by itself. */
type SignUpFlow = {
  readonly action: string;
  /** A value that only this browser has; the form's token is bound to it. */
  readonly boundTo: string;
  readonly signInUrl: string | undefined;
  readonly formTargets: readonly string[];
  done(person: Person): Promise<void>;
};

type Exchange = { readonly request: Request; readonly response: Response };

export const signUpRoutes = (dependencies: SignUpRouteDependencies): Router => {
  const during = (exchange: Exchange) => flowInInteraction(dependencies, exchange);
  const alone = (exchange: Exchange) => flowAlone(dependencies, exchange);
  return Router()
    .use(['/sign-up', '/sign-in/:uid/sign-up'], (_request, _response, next) => {
      if (dependencies.signUp === 'off') throw new PageRefusal(CLOSED);
      next();
    })
    .use(confirmSignUpRoutes(dependencies))
    .get('/sign-up/asked', (_request, response) => answerPage(response, signUpAskedPage(undefined)))
    .get('/sign-in/:uid/sign-up/asked', ({ params: { uid } }, response) =>
      answerPage(response, signUpAskedPage(`/sign-in/${uid}`)),
    )
    .get('/sign-up/done', (_request, response) => answerPage(response, signedUpPage))
    .get('/sign-up', async (request, response) =>
      show(dependencies, response, await alone({ request, response })),
    )
    .post('/sign-up', ...readForm, async (request, response) =>
      submit(dependencies, { request, response }, await alone({ request, response })),
    )
    .get('/sign-in/:uid/sign-up', async (request, response) =>
      show(dependencies, response, await during({ request, response })),
    )
    .post('/sign-in/:uid/sign-up', ...readForm, async (request, response) =>
      submit(dependencies, { request, response }, await during({ request, response })),
    )
    .all(['/sign-up', '/sign-in/:uid/sign-up'], refuseOtherMethods('GET', 'HEAD', 'POST'));
};

const CLOSED = messagePage({
  status: 404,
  title: 'You cannot sign up here',
  text: 'Ask an administrator for an invitation.',
});

const flowInInteraction = async (
  dependencies: SignUpRouteDependencies,
  { request, response }: Exchange,
): Promise<SignUpFlow> => {
  const asked = await askedOf(dependencies, 'login', request, response);
  const { uid } = asked.interaction;
  return {
    action: `/sign-in/${uid}/sign-up`,
    boundTo: uid,
    signInUrl: `/sign-in/${uid}`,
    formTargets: formTargetsFor(dependencies, asked),
    // A form that is sent again must not bypass a second factor that was set up since.
    done: (person) => afterPassword(dependencies, { request, response, asked }, person),
  };
};

const flowAlone = async (
  { cookie }: SignUpRouteDependencies,
  { request, response }: Exchange,
): Promise<SignUpFlow> => {
  const known = cookie.read(request);
  if (known === undefined && request.method === 'POST') throw new PageRefusal(FORGED);
  return {
    action: '/sign-up',
    boundTo: cookie.settle(request, response),
    signInUrl: undefined,
    formTargets: [],
    done: async () => response.redirect(303, '/sign-up/done'),
  };
};

const FORM_ID_BYTES = 16;
type Filled = Partial<Pick<SignUpView, 'name' | 'email' | 'problems' | 'status' | 'formId'>>;

/** A form is good for one sign-up: each page has a new one, except to send the same form again. */
const show = (
  { tokens }: SignUpRouteDependencies,
  response: Response,
  flow: SignUpFlow,
  filled: Filled = {},
): void => {
  const formId = filled.formId ?? randomBytes(FORM_ID_BYTES).toString('base64url');
  const { action, signInUrl, formTargets } = flow;
  const token = tokens.issue('sign-up', [flow.boundTo, formId]);
  answerPage(
    response,
    signUpPage({
      name: '',
      email: '',
      problems: {},
      ...filled,
      formId,
      token,
      action,
      signInUrl,
      formTargets,
    }),
  );
};

const submit = async (
  dependencies: SignUpRouteDependencies,
  { request, response }: Exchange,
  flow: SignUpFlow,
): Promise<void> => {
  const { tokens, attempts, emailHash, post, signUp: role } = dependencies;
  const { token, form: formId, ...typed } = fieldsOf(SignUp, request);
  if (!tokens.verify(token, 'sign-up', [flow.boundTo, formId])) throw new PageRefusal(FORGED);
  const fields = { ...typed, name: typed.name.trim(), email: typed.email.trim() };
  const again = (filled: Filled) =>
    show(dependencies, response, flow, { name: fields.name, email: fields.email, ...filled });
  const isTooMuch = async (allowance: Allowance, subject: string): Promise<boolean> => {
    const taken = await attempts.take(allowance, subject);
    if (taken.granted) return false;
    response.set('Retry-After', String(waitSeconds(taken.waitMs)));
    again({
      formId,
      problems: { form: `Too many accounts were requested. Try again in ${waitText(taken.waitMs)}.` },
      status: 429,
    });
    return true;
  };
  // Before the slow password estimate.
  if (await isTooMuch(PER_ADDRESS, clientAddress(request))) return;
  const problems = await problemsIn(fields);
  if (hasProblems(problems)) return again({ problems, status: 422 });
  if (role === 'off') throw new PageRefusal(CLOSED);
  if (post.reachesPeople && (await isTooMuch(PER_EMAIL, emailHash(fields.email)))) return;
  if (post.reachesPeople) {
    await askForConfirmation(dependencies, fields);
    return response.redirect(303, `${flow.action}/asked`);
  }
  const result = await signUp(dependencies, {
    ...fields,
    formId,
    role,
    requestId: requestIdOf(request),
    trace: traceparentOf(request),
  });
  if (result.outcome === 'done') return flow.done(result.person);
  again(answers(formId)[result.outcome]);
};

const answers = (formId: string) =>
  ({
    taken: {
      problems: { email: 'This address already has an account. Sign in with it, or use another one.' },
      status: 409,
    },
    repeated: {
      problems: {
        form: 'This form was already sent. Sign in, or send it again for another account.',
      },
      status: 409,
    },
    busy: {
      problems: {
        form: 'The account may not have been created yet. Send the form again: you will not get two accounts.',
      },
      status: 503,
      formId,
    },
  }) satisfies Record<Exclude<SignedUp['outcome'], 'done'>, Filled>;
