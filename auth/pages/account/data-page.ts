import { html } from '#shared/html.ts';
import { LEFT_OUT } from '#shared/person-export/write.ts';
import type { Page } from '../page.ts';
import { hidden, type Problems, summaryOf, titleOf } from '../parts/field.ts';
import { PASSWORD_NOTE, passwordField } from '../parts/person-fields.ts';
import { type AccountView, accountPage, PATHS } from './account-page.ts';

export type DataPageView = AccountView & {
  readonly problems: Problems<'password'>;
  /** Without one, the sign-in has been just now. */
  readonly hasPassword: boolean;
};

export const dataPage = ({ problems, hasPassword, ...view }: DataPageView): Page =>
  accountPage(view, {
    section: PATHS.home,
    ...(hasPassword && { note: PASSWORD_NOTE }),
    title: titleOf('Your data', problems),
    main: html`${summaryOf(problems)}
<h1>Your data</h1>
<p class="lead">Get everything that is stored about you: your account and how you sign in, your items and those that name you, and the history.</p>
<ul>
${LEFT_OUT.map((text) => html`<li>${text}</li>\n`)}</ul>
<p>The file is made while your browser saves it, which shows how far it is. With a long history this takes minutes. It is stored nowhere else. The history records that you asked, and you get a mail.</p>
<form method="post" action="${PATHS.data}" novalidate>
${hidden('token', view.token)}
${hasPassword ? passwordField({ problem: problems.password }) : hidden('password', '')}
<div class="actions">
<button class="primary" type="submit" name="format" value="html">Save as a page to read</button>
<button type="submit" name="format" value="json">Save as JSON</button>
</div>
</form>
<p><a href="${PATHS.home}">Back to your account</a></p>`,
  });
