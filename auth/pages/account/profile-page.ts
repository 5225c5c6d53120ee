import { html } from '#shared/html.ts';
import { hasProblems, hidden, type Problems, summaryOf, titleOf } from '../field.ts';
import type { Page } from '../page.ts';
import { emailField, nameField } from '../person-fields.ts';
import { type AccountView, accountPage, PATHS } from './account-page.ts';

export type ProfileView = AccountView & {
  readonly name: string;
  readonly email: string;
  readonly problems: Problems<'name' | 'email'>;
};

export const profilePage = ({ name, email, problems, ...view }: ProfileView): Page =>
  accountPage(view, {
    section: PATHS.profile,
    title: titleOf('Profile', problems),
    main: html`${summaryOf(problems)}
<h1>Profile</h1>
<form method="post" action="${PATHS.profile}" novalidate>
${hidden('token', view.token)}
${nameField({ value: name, problem: problems.name, hasFocus: !hasProblems(problems) && view.done === undefined })}
${emailField({ autocomplete: 'email', hint: 'You sign in with it, and links for a forgotten password go there. Nobody else sees it.', value: email, problem: problems.email })}
<div class="actions"><button class="primary" type="submit">Save</button></div>
</form>`,
  });
