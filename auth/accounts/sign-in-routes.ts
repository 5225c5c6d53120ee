// Over 200 lines, because it is one page: the sign-in, with all its ways.
import { type Request, type Response, Router } from 'express';
import * as z from 'zod';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { clientAddress } from '#edge/http/client-address.ts';
import type { UserId } from '#kernel/base/brands.ts';
import { html } from '#shared/html.ts';
import type { Persons } from '../directory.ts';
import { answerPage } from '../pages/answer-page.ts';
import type { FormTokens } from '../pages/form-token.ts';
import { FORGED } from '../pages/message-page.ts';
import type { Page } from '../pages/page.ts';
import { hasProblems, hidden, type Problems, summaryOf, titleOf } from '../pages/parts/field.ts';
import { type PasskeyForm, passkeyForm } from '../pages/parts/passkey-form.ts';
import {
  EMAIL_MAX,
  emailField,
  PASSWORD_MAX,
  PASSWORD_NOTE,
  passwordField,
} from '../pages/parts/person-fields.ts';
import type { ReadProfile } from '../provider/profile.ts';
import type { Credentials } from './credentials.ts';
import { fieldsOf, formToken, readForm } from './form.ts';
import {
  type Asked,
  askedOf,
  CANCELLED,
  clientNameOf,
  finish,
  formTargetsFor,
  textOf,
} from './interaction.ts';
import { PageRefusal } from './page-refusal.ts';
import {
  type PasskeyDependencies,
  passkeyFormFor,
  passkeySignInRoutes,
  type ShowAgain,
} from './passkey-sign-in.ts';
import { afterPassword, type SecondStepDependencies, secondStepRoutes } from './second-step.ts';
import type { Offer, SignInElsewhere } from './sign-in-elsewhere.ts';
import { type SignInLimits, waitSeconds, waitText } from './sign-in-limits.ts';
import { recordLock } from './sign-in-outcome.ts';

type SignInDependencies = SecondStepDependencies &
  PasskeyDependencies & {
    readonly persons: Persons;
    readonly credentials: Credentials;
    readonly tokens: FormTokens;
    readonly limits: SignInLimits;
    readonly emailHash: (email: string) => string;
    readonly isSignUpOpen: boolean;
    readonly readProfile: ReadProfile;
    /** Undefined if there are no identity providers. */
    readonly elsewhere?: SignInElsewhere | undefined;
  };

/** The same text for a wrong password and for an unknown address. */
const WRONG = 'No account has this e-mail address and this password.';

const SignIn = z.object({
  token: formToken,
  email: z.string().max(EMAIL_MAX),
  password: z.string().max(PASSWORD_MAX),
  cancel: z.literal('yes').optional(),
});

export const signInRoutes = (dependencies: SignInDependencies): Router => {
  const showAgain: ShowAgain = ({ response, asked }, problem, wrong) =>
    answerPage(
      response,
      signInPage(viewOf(dependencies, asked, { email: '', problems: { form: problem }, ...wrong })),
    );
  return Router()
    .get('/sign-in/:uid', async (request, response) => {
      const asked = await askedOf(dependencies, 'login', request, response);
      const { login_hint: hint } = asked.interaction.params;
      const email = (textOf(hint) ?? (await knownEmail(dependencies, asked)) ?? '').slice(0, EMAIL_MAX);
      answerPage(response, signInPage(viewOf(dependencies, asked, { email, problems: {} })));
    })
    .post('/sign-in/:uid', ...readForm, (request, response) => signIn(dependencies, request, response))
    .use(
      secondStepRoutes(dependencies),
      passkeySignInRoutes(dependencies, showAgain),
      dependencies.elsewhere?.signInRoutes(dependencies, showAgain) ?? Router(),
    )
    .all('/sign-in/:uid', refuseOtherMethods('GET', 'HEAD', 'POST'));
};

/** The address of a signed-in person who is asked for the password again. */
const knownEmail = async (
  { readProfile }: SignInDependencies,
  { interaction }: Asked,
): Promise<string | undefined> =>
  interaction.session === undefined
    ? undefined
    : (await readProfile(Number(interaction.session.accountId) as UserId)).email;

const signIn = async (
  dependencies: SignInDependencies,
  request: Request,
  response: Response,
): Promise<void> => {
  const { tokens, limits, emailHash } = dependencies;
  const form = fieldsOf(SignIn, request);
  const asked = await askedOf(dependencies, 'login', request, response);
  if (!tokens.verify(form.token, 'sign-in', [asked.interaction.uid])) throw new PageRefusal(FORGED);
  if (form.cancel) return finish(dependencies, { request, response, result: CANCELLED });
  const email = form.email.trim();
  const again = (problems: SignInView['problems'], status: number) =>
    answerPage(response, signInPage(viewOf(dependencies, asked, { email, problems, status })));
  const missing = missingIn({ email, password: form.password });
  if (missing !== undefined) return again(missing, 422);

  const found = await dependencies.persons.byEmail(email);
  // A deactivated account gets the same answer as a wrong password.
  const person = found?.status === 'active' ? found : undefined;
  const device = dependencies.devices.of(request, person?.userId);
  const tried = { account: emailHash(email), address: clientAddress(request), device };
  const admitted = await limits.admit(tried);
  if (!admitted.granted) {
    response.set('Retry-After', String(waitSeconds(admitted.waitMs)));
    return again({ form: `Too many attempts. Try again in ${waitText(admitted.waitMs)}.` }, 429);
  }
  if (await dependencies.credentials.verify(person?.userId, form.password)) {
    if (person === undefined) throw new Error('the password of no person was right');
    await limits.succeeded(tried);
    return afterPassword(dependencies, { request, response, asked }, person);
  }
  if (admitted.locksIfWrong)
    await recordLock(dependencies.record, { request, asked, person, attempts: admitted.attempts });
  again({ form: WRONG }, 422);
};

const missingIn = ({
  email,
  password,
}: {
  email: string;
  password: string;
}): SignInView['problems'] | undefined =>
  email !== '' && password !== ''
    ? undefined
    : {
        ...(email === '' && { email: 'Enter your e-mail address.' }),
        ...(password === '' && { password: 'Enter your password.' }),
      };

type Filled = Pick<SignInView, 'email' | 'problems' | 'status' | 'isPasskeyOffered'>;

const viewOf = (dependencies: SignInDependencies, asked: Asked, filled: Filled): SignInView => {
  const { uid } = asked.interaction;
  return {
    ...filled,
    action: `/sign-in/${uid}`,
    token: dependencies.tokens.issue('sign-in', [uid]),
    clientName: clientNameOf(asked),
    passkey: passkeyFormFor(dependencies, asked),
    offers: dependencies.elsewhere?.offersFor(asked) ?? [],
    signUpUrl: dependencies.isSignUpOpen ? `/sign-in/${uid}/sign-up` : undefined,
    formTargets: formTargetsFor(dependencies, asked),
  };
};

type SignInView = {
  readonly action: string;
  readonly token: string;
  readonly clientName: string;
  readonly email: string;
  readonly problems: Problems<'email' | 'password'>;
  /** Undefined if sign-up is closed. */
  readonly signUpUrl: string | undefined;
  /** Undefined if passkeys are not possible. */
  readonly passkey: PasskeyForm | undefined;
  /** The identity providers. */
  readonly offers: readonly Offer[];
  /** Offers passkeys in the browser's autofill again after an error that no passkey caused. */
  readonly isPasskeyOffered?: boolean;
  readonly formTargets: readonly string[];
  readonly status?: number;
};

const signInPage = ({
  action,
  token,
  clientName,
  email,
  problems,
  signUpUrl,
  passkey,
  offers,
  isPasskeyOffered,
  ...page
}: SignInView): Page => ({
  ...page,
  ...(passkey !== undefined && { scriptUrl: passkey.scriptUrl }),
  note: PASSWORD_NOTE,
  title: titleOf('Sign in', problems),
  main: html`${summaryOf(problems)}
<h1>Sign in</h1>
<p class="lead">You will continue to <strong>${clientName}</strong>.</p>
<form method="post" action="${action}" novalidate>
${hidden('token', token)}
${emailField({ autocomplete: passkey === undefined ? 'username' : 'username webauthn', value: email, problem: problems.email, hasFocus: email === '' && !hasProblems(problems) })}
${passwordField({ problem: problems.password, hasFocus: email !== '' && !hasProblems(problems) })}
<div class="actions">
<button class="primary" type="submit">Sign in</button>
<button type="submit" name="cancel" value="yes">Cancel</button>
</div>
</form>
${passkey !== undefined && passkeyForm(hasProblems(problems) && !isPasskeyOffered ? 'get' : 'offer', passkey, html`<button type="submit">Sign in with a passkey</button>`)}
${offers.length > 0 && html`<ul class="offers">${offers.map(({ label, url }) => html`<li><a class="button" href="${url}">Sign in with ${label}</a></li>`)}</ul>`}
<p><a href="/account/reset">Forgotten your password?</a></p>
${signUpUrl !== undefined && html`<p>New here? <a href="${signUpUrl}">Create an account</a></p>`}`,
});
