import { html } from '#shared/html.ts';
import { messagePage } from './message-page.ts';
import type { Page } from './page.ts';
import { hasProblems, hidden, type Problems, summaryOf, titleOf } from './parts/field.ts';
import { emailField, newPasswordField, PASSWORD_NOTE } from './parts/person-fields.ts';

export const RESET_PATH = '/account/reset';
export const NEW_PASSWORD_PATH = '/account/reset/password';

type AskView = {
  readonly token: string;
  readonly email: string;
  readonly problems: Problems<'email'>;
  readonly status?: number;
};

export const askResetPage = ({ token, email, problems, status }: AskView): Page => ({
  ...(status !== undefined && { status }),
  title: titleOf('Reset your password', problems),
  main: html`${summaryOf(problems)}
<h1>Reset your password</h1>
<p class="lead">We will send you a link to choose a new password.</p>
<form method="post" action="${RESET_PATH}" novalidate>
${hidden('token', token)}
${emailField({ autocomplete: 'username', value: email, problem: problems.email, hasFocus: !hasProblems(problems) })}
<div class="actions"><button class="primary" type="submit">Send the link</button></div>
</form>`,
});

/** The same whether or not there is such an account. */
export const resetAskedPage: Page = {
  title: 'Check your mail',
  main: html`<h1>Check your mail</h1>
<p>If there is an account with this e-mail address, a link is on its way to it. The link is valid once, for half an hour.</p>
<p>If nothing arrives within a few minutes, check your spam folder, or <a href="${RESET_PATH}">request another link</a>.</p>`,
};

export const noMailPage: Page = {
  title: 'Reset your password',
  main: html`<h1>Reset your password</h1>
<p>This site sends no mail. Ask an administrator for a link to choose a new password.</p>`,
};

type ChooseView = {
  readonly token: string;
  readonly link: string;
  readonly problems: Problems<'password'>;
  readonly status?: number;
};

export const chooseResetPage = ({ token, link, problems, status }: ChooseView): Page => ({
  ...(status !== undefined && { status }),
  note: PASSWORD_NOTE,
  title: titleOf('Choose a new password', problems),
  main: html`${summaryOf(problems)}
<h1>Choose a new password</h1>
<p class="lead">You will be signed out everywhere, and applications can no longer act for you until you allow it again.</p>
<form method="post" action="${NEW_PASSWORD_PATH}" novalidate>
${hidden('token', token)}
${hidden('link', link)}
${newPasswordField({ problem: problems.password, hasFocus: !hasProblems(problems) })}
<div class="actions"><button class="primary" type="submit">Change the password</button></div>
</form>`,
});

export const resetDonePage: Page = {
  title: 'Your password was changed',
  main: html`<h1>Your password was changed</h1>
<p>Go back to the application that you want to use and sign in there, or <a href="/account">go to your account</a>.</p>
<p>A new password does not remove passkeys or codes from an app. If somebody else may have known the old password,
<a href="/account/security">check the ways to sign in</a>, and remove those that are not yours.</p>`,
};

export const resetLinkOverPage = messagePage({
  status: 410,
  title: 'This link is no longer valid',
  text: 'It was used, is older than half an hour, or is incomplete. Request another one.',
});
