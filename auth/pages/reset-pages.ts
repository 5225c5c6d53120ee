import { html } from '#shared/html.ts';
import { hasProblems, hidden, type Problems, summaryOf, titleOf } from './field.ts';
import { messagePage } from './message-page.ts';
import type { Page } from './page.ts';
import { emailField, newPasswordField, PASSWORD_NOTE } from './person-fields.ts';

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
  title: titleOf('A new password', problems),
  main: html`${summaryOf(problems)}
<h1>A new password</h1>
<p class="lead">We send you a link by which you can choose one.</p>
<form method="post" action="${RESET_PATH}" novalidate>
${hidden('token', token)}
${emailField({ autocomplete: 'username', value: email, problem: problems.email, hasFocus: !hasProblems(problems) })}
<div class="actions"><button class="primary" type="submit">Send the link</button></div>
</form>`,
});

/** The same whether or not there is such an account. */
export const resetAskedPage: Page = {
  title: 'Look into your mail',
  main: html`<h1>Look into your mail</h1>
<p>If there is an account with this e-mail address, a link is on its way to it. It is good for half an hour, and once.</p>
<p>Nothing has come after some minutes? Look where unwanted mail goes, or <a href="${RESET_PATH}">ask again</a>.</p>`,
};

export const noMailPage: Page = {
  title: 'A new password',
  main: html`<h1>A new password</h1>
<p>No mail is sent from here, so an administrator must help: ask whoever runs this for a link by which you can choose a new password.</p>`,
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
<p class="lead">You will be signed out everywhere, and applications may not act for you any more until you allow it again.</p>
<form method="post" action="${NEW_PASSWORD_PATH}" novalidate>
${hidden('token', token)}
${hidden('link', link)}
${newPasswordField({ problem: problems.password, hasFocus: !hasProblems(problems) })}
<div class="actions"><button class="primary" type="submit">Change the password</button></div>
</form>`,
});

export const resetDonePage: Page = {
  title: 'Your password is changed',
  main: html`<h1>Your password is changed</h1>
<p>Go back to the application that you want to use and sign in there, or <a href="/account">look at your account</a>.</p>
<p>Passkeys and codes from an app are as they were: a new password does not remove them. If somebody else may have known the one before it,
<a href="/account/security">look at how one can sign in</a>, and remove what is not yours.</p>`,
};

export const resetLinkOverPage = messagePage({
  status: 410,
  title: 'This link is not good any more',
  text: 'It has been used, is older than half an hour, or is not whole. Ask for another one.',
});
