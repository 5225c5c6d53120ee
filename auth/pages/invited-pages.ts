import { html } from '#shared/html.ts';
import { messagePage } from './message-page.ts';
import type { Page } from './page.ts';
import { hasProblems, hidden, type Problems, summaryOf, titleOf } from './parts/field.ts';
import { nameField, newPasswordField, PASSWORD_NOTE } from './parts/person-fields.ts';

export const INVITED_PATH = '/account/invited';

export const invitationLink = (issuerUrl: string, link: string): string =>
  `${issuerUrl}${INVITED_PATH}?link=${link}`;

type InvitedView = {
  readonly token: string;
  readonly link: string;
  readonly email: string;
  readonly name: string;
  readonly problems: Problems<'name' | 'password'>;
  readonly status?: number;
};

/** The address is that of the invitation: the link proves that it is theirs. */
export const invitedPage = ({ token, link, email, name, problems, status }: InvitedView): Page => ({
  ...(status !== undefined && { status }),
  note: PASSWORD_NOTE,
  title: titleOf('Create your account', problems),
  main: html`${summaryOf(problems)}
<h1>Create your account</h1>
<p class="lead">You were invited as <strong>${email}</strong>. You will sign in with this address.</p>
<form method="post" action="${INVITED_PATH}" novalidate>
${hidden('token', token)}
${hidden('link', link)}
${nameField({ value: name, problem: problems.name, hasFocus: !hasProblems(problems) })}
${newPasswordField({ label: 'Password', problem: problems.password })}
<div class="actions"><button class="primary" type="submit">Create account</button></div>
</form>`,
});

export const invitedDonePage: Page = {
  title: 'Your account is ready',
  main: html`<h1>Your account is ready</h1>
<p>Sign in with your e-mail address and password: at the application that you want to use, or <a href="/account">here</a>.</p>`,
};

export const invitationOverPage = messagePage({
  status: 410,
  title: 'This invitation is no longer valid',
  text: 'It was used or revoked, has expired, or its link is incomplete. Ask the person who invited you for another one.',
});
