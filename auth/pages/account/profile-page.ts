import { field, hasProblems, hidden, type Problems, summaryOf, titleOf } from '../field.ts';
import { html } from '../html.ts';
import type { Page } from '../page.ts';
import { EMAIL_MAX } from '../sign-in-page.ts';
import { NAME_MAX } from '../sign-up-page.ts';
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
${field({
  name: 'name',
  label: 'Name',
  hint: 'Everybody can see it.',
  type: 'text',
  autocomplete: 'name',
  value: name,
  problem: problems.name,
  maxLength: NAME_MAX,
  hasFocus: !hasProblems(problems) && view.done === undefined,
})}
${field({
  name: 'email',
  label: 'E-mail address',
  hint: 'You sign in with it, and links for a forgotten password go there. Nobody else sees it.',
  type: 'email',
  autocomplete: 'email',
  value: email,
  problem: problems.email,
  maxLength: EMAIL_MAX,
})}
<div class="actions"><button class="primary" type="submit">Save</button></div>
</form>`,
  });
