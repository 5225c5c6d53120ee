import { html } from '#shared/html.ts';
import { checkbox, hasProblems, hidden, type Problems, summaryOf, titleOf } from '../field.ts';
import type { Page } from '../page.ts';
import { newPasswordField, PASSWORD_NOTE, passwordField } from '../person-fields.ts';
import { type AccountView, accountPage, PATHS } from './account-page.ts';

export type PasswordView = AccountView & { readonly problems: Problems<'current' | 'password'> };

export const passwordPage = ({ problems, ...view }: PasswordView): Page =>
  accountPage(view, {
    section: PATHS.security,
    note: PASSWORD_NOTE,
    title: titleOf('Change the password', problems),
    main: html`${summaryOf(problems)}
<h1>Change the password</h1>
<form method="post" action="${PATHS.password}" novalidate>
${hidden('token', view.token)}
${passwordField({ name: 'current', label: 'Current password', problem: problems.current, hasFocus: !hasProblems(problems) })}
${newPasswordField({ problem: problems.password })}
${checkbox({ name: 'everywhere', label: 'Sign me out everywhere else, and end what applications may do for me', isTicked: true })}
<div class="actions"><button class="primary" type="submit">Change the password</button></div>
</form>
<p>You have forgotten it? <a href="/account/reset">Get a link for a new one</a></p>`,
  });
