import { checkbox, field, hasProblems, hidden, type Problems, summaryOf, titleOf } from '../field.ts';
import { html } from '../html.ts';
import type { Page } from '../page.ts';
import { PASSWORD_MAX, PASSWORD_NOTE } from '../sign-in-page.ts';
import { PASSWORD_HINT } from '../sign-up-page.ts';
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
${field({
  name: 'current',
  label: 'Current password',
  type: 'password',
  autocomplete: 'current-password',
  problem: problems.current,
  maxLength: PASSWORD_MAX,
  hasFocus: !hasProblems(problems),
})}
${field({
  name: 'password',
  label: 'New password',
  hint: PASSWORD_HINT,
  type: 'password',
  autocomplete: 'new-password',
  problem: problems.password,
  maxLength: PASSWORD_MAX,
})}
${checkbox({ name: 'everywhere', label: 'Sign me out everywhere else, and end what applications may do for me', isTicked: true })}
<div class="actions"><button class="primary" type="submit">Change the password</button></div>
</form>
<p>You have forgotten it? <a href="/account/reset">Get a link for a new one</a></p>`,
  });
