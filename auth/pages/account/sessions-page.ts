import { type Html, html } from '#shared/html.ts';
import { hidden } from '../field.ts';
import type { Page } from '../page.ts';
import { momentOfSeconds } from '../time.ts';
import { type AccountView, accountPage, PATHS } from './account-page.ts';

type ShownSession = {
  readonly uid: string;
  readonly isThis: boolean;
  readonly browser: string;
  readonly network: string | undefined;
  readonly signedInAtS: number;
  readonly seenAtS: number;
};

export type SessionsView = AccountView & { readonly sessions: readonly ShownSession[] };

/** What the button sends that ends all but the one at hand. */
export const ALL_OTHERS = 'others';

export const sessionsPage = ({ sessions, ...view }: SessionsView): Page =>
  accountPage(view, {
    section: PATHS.sessions,
    title: 'Sessions',
    main: html`<h1>Sessions</h1>
<p class="lead">The browsers in which you are signed in. Applications that may act for you go on without them:
see <a href="${PATHS.applications}">Applications</a>.</p>
<ul class="items">${sessions.map((session) => itemOf(session, view.token))}</ul>
${
  sessions.length > 1 &&
  html`<form method="post" action="${PATHS.sessions}">
${hidden('token', view.token)}
<button class="danger" type="submit" name="session" value="${ALL_OTHERS}">Sign out everywhere else</button>
</form>`
}`,
  });

const itemOf = ({ uid, isThis, browser, network, signedInAtS, seenAtS }: ShownSession, token: string): Html => html`<li><div>
<h2>${browser}${isThis && ' (this one)'}</h2>
<p class="small">Signed in on ${momentOfSeconds(signedInAtS)}</p>
<p class="small">Last seen ${momentOfSeconds(seenAtS)}${network !== undefined && html`, from ${network}`}</p></div>
${
  isThis
    ? html`<p><a href="/sign-out">Sign out</a></p>`
    : html`<form method="post" action="${PATHS.sessions}">
${hidden('token', token)}
<button type="submit" name="session" value="${uid}" aria-label="Sign out ${browser}, last seen ${new Date(seenAtS * 1_000).toISOString()}">Sign out</button>
</form>`
}</li>`;
