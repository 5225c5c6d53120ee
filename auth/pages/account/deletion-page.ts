import { html } from '#shared/html.ts';
import { field, hasProblems, hidden, type Problems, summaryOf, titleOf } from '../field.ts';
import type { Page } from '../page.ts';
import { PASSWORD_NOTE, passwordField } from '../person-fields.ts';
import { type AccountView, accountPage, PATHS } from './account-page.ts';

export type DeletionView = AccountView & { readonly problems: Problems<'confirmation' | 'password'>; readonly confirmation: string };

/** What must be typed, so that no slip of the hand deletes anybody. */
export const CONFIRMATION = 'delete my account';

const CONFIRMATION_MAX = 50;

export const deletionPage = ({ problems, confirmation, ...view }: DeletionView): Page =>
  accountPage(view, {
    section: PATHS.home,
    note: PASSWORD_NOTE,
    title: titleOf('Delete the account', problems),
    main: html`${summaryOf(problems)}
<h1>Delete the account</h1>
<p><strong>Nobody can undo it.</strong> At once:</p>
<ul>
<li>your name, your e-mail address and the text of your comments are erased, in the history too: the key that opens them is destroyed;</li>
<li>your drafts and your webhooks are deleted;</li>
<li>your sessions and what applications may do for you end.</li>
</ul>
<p>Articles that you have published stay, and say “Deleted user”. Take back or delete first what shall not stay.</p>
<form method="post" action="${PATHS.deletion}" novalidate>
${hidden('token', view.token)}
${field({
  name: 'confirmation',
  label: `Type “${CONFIRMATION}”`,
  type: 'text',
  autocomplete: 'off',
  value: confirmation,
  problem: problems.confirmation,
  maxLength: CONFIRMATION_MAX,
  hasFocus: !hasProblems(problems),
})}
${passwordField({ problem: problems.password })}
<div class="actions"><button class="danger" type="submit">Delete the account for ever</button></div>
</form>
<p><a href="${PATHS.home}">Keep it</a></p>`,
  });

/** Instead of the form: after it nobody could invite anybody or look after what others have written. */
export const lastAdministratorPage = (view: AccountView): Page =>
  accountPage(view, {
    section: PATHS.home,
    title: 'You are the only administrator',
    main: html`<h1>You are the only administrator</h1>
<p>Your account cannot be deleted as long as nobody else could look after this place. Make somebody else an administrator first:
<a href="${PATHS.invitations}">invite them</a> with that role. Once they have an account, come back.</p>
<p><a href="${PATHS.home}">Back to your account</a></p>`,
  });
