import { html } from '#shared/html.ts';
import { messagePage } from './message-page.ts';
import type { Page } from './page.ts';
import { hasProblems, hidden, type Problems, summaryOf, titleOf } from './parts/field.ts';
import { PASSWORD_NOTE, passwordField } from './parts/person-fields.ts';

export const CONFIRM_PATH = '/sign-up/confirm';

/** The same whether or not the address has an account. */
export const signUpAskedPage = (signInUrl: string | undefined): Page => ({
  title: 'Check your mail',
  main: html`<h1>Check your mail</h1>
<p>We have sent a message to this e-mail address. Open the link in it within a day, and enter your password again: then your account is ready.</p>
<p>If nothing arrives within a few minutes, check your spam folder, or try again.</p>
${signInUrl !== undefined && html`<p>Your account is ready? <a href="${signInUrl}">Sign in</a></p>`}`,
});

type ConfirmView = {
  readonly token: string;
  readonly link: string;
  readonly email: string;
  readonly problems: Problems<'password'>;
  readonly status?: number;
};

export const confirmSignUpPage = ({ token, link, email, problems, status }: ConfirmView): Page => ({
  ...(status !== undefined && { status }),
  note: PASSWORD_NOTE,
  title: titleOf('Confirm your address', problems),
  main: html`${summaryOf(problems)}
<h1>Confirm your address</h1>
<p class="lead">Enter the password that you chose for <strong>${email}</strong> again. You will sign in with this address and password.</p>
<form method="post" action="${CONFIRM_PATH}" novalidate>
${hidden('token', token)}
${hidden('link', link)}
${passwordField({ problem: problems.password, hasFocus: !hasProblems(problems) })}
<div class="actions"><button class="primary" type="submit">Create account</button></div>
</form>
<p>If you did not ask for an account, close this page: no account is created.</p>`,
});

export const signUpOverPage = messagePage({
  status: 410,
  title: 'This link is no longer valid',
  text: 'It was used, is older than a day, or is incomplete. Sign in, or create the account again.',
});
