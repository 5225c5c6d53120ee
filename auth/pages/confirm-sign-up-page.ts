import { html } from '#shared/html.ts';
import { hasProblems, hidden, type Problems, summaryOf, titleOf } from './field.ts';
import { messagePage } from './message-page.ts';
import type { Page } from './page.ts';
import { PASSWORD_NOTE, passwordField } from './person-fields.ts';

export const CONFIRM_PATH = '/sign-up/confirm';

/** The same whether or not the address has an account. */
export const signUpAskedPage = (signInUrl: string | undefined): Page => ({
  title: 'Look into your mail',
  main: html`<h1>Look into your mail</h1>
<p>We have sent a message to this e-mail address. Open the link in it within a day, and type your password once more: then your account is ready.</p>
<p>Nothing has come after some minutes? Look where unwanted mail goes, or try again.</p>
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
<p class="lead">Type the password that you chose for <strong>${email}</strong> once more. You will sign in with both.</p>
<form method="post" action="${CONFIRM_PATH}" novalidate>
${hidden('token', token)}
${hidden('link', link)}
${passwordField({ problem: problems.password, hasFocus: !hasProblems(problems) })}
<div class="actions"><button class="primary" type="submit">Create account</button></div>
</form>
<p>You did not ask for an account? Then close this page: nothing happens.</p>`,
});

export const signUpOverPage = messagePage({
  status: 410,
  title: 'This link is not good any more',
  text: 'It has been used, is older than a day, or is not whole. Sign in, or create the account once more.',
});
