import { type Html, html } from '#shared/html.ts';
import type { Page } from '../page.ts';
import { hidden } from '../parts/field.ts';
import { type AccountView, accountPage, PATHS } from './account-page.ts';

/** Shown instead of an action that needs a confirmed account. */
export const confirmFirst = (
  what: string,
): Html => html`<p><strong>Confirm your address first.</strong> ${what}
<a href="${PATHS.confirmation}">Confirm your address</a></p>`;

export type ConfirmationView = AccountView & {
  readonly email: string;
  /** From the mail, if its link opened the page. */
  readonly link: string | undefined;
  readonly problem?: string;
};

export const confirmationPage = ({ email, link, problem, ...view }: ConfirmationView): Page =>
  accountPage(view, {
    section: PATHS.security,
    title: 'Confirm your address',
    main: html`<h1>Confirm your address</h1>
${problem !== undefined && html`<p class="wrong" role="alert">${problem}</p>\n`}${
  link === undefined
    ? html`<p class="lead"><strong>${email}</strong> is not confirmed as your address yet. Until it is, you can sign in only with your
password, and third-party applications cannot act for you.</p>
<p>We will send you a message. Open the link in it within a day, in any browser in which you sign in.</p>
<form method="post" action="${PATHS.confirmation}">
${hidden('token', view.token)}
<div class="actions"><button class="primary" type="submit" name="do" value="send">Send the message</button></div>
</form>
<p>Not your address? <a href="${PATHS.profile}">Change it</a></p>`
    : html`<p class="lead">You have opened the link that we sent to <strong>${email}</strong>.</p>
<form method="post" action="${PATHS.confirmation}">
${hidden('token', view.token)}
${hidden('link', link)}
<div class="actions"><button class="primary" type="submit" name="do" value="confirm">Confirm this address</button></div>
</form>`
}`,
  });
