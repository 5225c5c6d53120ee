import { html } from '../html.ts';
import type { Page } from '../page.ts';
import { momentOf } from '../time.ts';
import { type AccountView, accountPage, PATHS } from './account-page.ts';

export type SecurityView = AccountView & {
  /** Undefined where there is none. */
  readonly passwordChangedAt: Date | undefined;
};

/** The ways to sign in, one item each: what shows who somebody is, when it was set, and where it is changed. */
export const securityPage = ({ passwordChangedAt, ...view }: SecurityView): Page =>
  accountPage(view, {
    section: PATHS.security,
    title: 'Signing in',
    main: html`<h1>Signing in</h1>
<ul class="items">
<li><div><h2>Password</h2>
<p class="small">${passwordChangedAt === undefined ? 'There is none.' : html`Chosen on ${momentOf(passwordChangedAt)}`}</p></div>
<p>${
      passwordChangedAt === undefined
        ? html`<a href="/account/reset">Choose one by a link</a>`
        : html`<a href="${PATHS.password}">Change the password</a>`
    }</p></li>
</ul>
<p>See also <a href="${PATHS.sessions}">where you are signed in</a>.</p>`,
  });
