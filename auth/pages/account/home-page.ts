import { html } from '#shared/html.ts';
import type { Page } from '../page.ts';
import { type AccountView, accountPage, PATHS } from './account-page.ts';

export type HomeView = AccountView & { readonly name: string | undefined; readonly email: string | undefined; readonly role: string };

export const homePage = ({ name, email, role, ...view }: HomeView): Page =>
  accountPage(view, {
    section: PATHS.home,
    title: 'Your account',
    main: html`<h1>${name ?? 'Your account'}</h1>
<dl>
<dt>E-mail address</dt><dd>${email ?? 'None'}</dd>
<dt>Role</dt><dd>${role}</dd>
</dl>
<ul class="items">
<li><div><h2><a href="${PATHS.profile}">Profile</a></h2><p class="small">Your name and your e-mail address</p></div></li>
<li><div><h2><a href="${PATHS.security}">Signing in</a></h2><p class="small">How you show that it is you</p></div></li>
<li><div><h2><a href="${PATHS.applications}">Applications</a></h2><p class="small">Which may act for you, and what they may do</p></div></li>
<li><div><h2><a href="${PATHS.sessions}">Sessions</a></h2><p class="small">Where you are signed in</p></div></li>
${
  view.isAdmin &&
  html`<li><div><h2><a href="${PATHS.invitations}">Invitations</a></h2><p class="small">Whom you have asked to join</p></div></li>\n`
}<li><div><h2><a href="${PATHS.deletion}">Delete the account</a></h2><p class="small">And erase what it holds of you</p></div></li>
</ul>
<p><a href="/sign-out">Sign out</a></p>`,
  });
