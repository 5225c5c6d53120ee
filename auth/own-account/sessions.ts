import * as z from 'zod';
import { type Html, html } from '#shared/html.ts';
import { fieldsOf } from '../accounts/form.ts';
import { type AccountView, accountPage, PATHS } from '../pages/account/account-page.ts';
import { answerPage } from '../pages/answer-page.ts';
import type { Page } from '../pages/page.ts';
import { checkbox, hidden } from '../pages/parts/field.ts';
import { momentOfSeconds } from '../pages/parts/time.ts';
import type { OwnAccountDependencies } from './dependencies.ts';
import { allSessions, byVisitor, end, everything, oneSession } from './end-access.ts';
import { type AccountPage, goTo, viewOf } from './pages.ts';

type Dependencies = Pick<OwnAccountDependencies, 'tokens' | 'sessions' | 'record' | 'endAccess'>;

const UID_MAX = 100;
const End = z.object({ session: z.string().max(UID_MAX), access: z.literal('yes').optional() });

export const sessions = (dependencies: Dependencies): AccountPage => ({
  path: PATHS.sessions,
  async show(visitor) {
    const open = await dependencies.sessions.of(visitor.userId);
    const shown = open.map(({ uid, signedInAtS, seen }) => ({
      uid,
      isThis: uid === visitor.sessionUid,
      browser: seen?.browser ?? 'A browser',
      network: seen?.network,
      signedInAtS,
      seenAtS: seen?.atS ?? signedInAtS,
    }));
    answerPage(visitor.response, sessionsPage({ ...viewOf(dependencies, visitor, DONE), sessions: shown }));
  },
  async submit(visitor) {
    const { session, access } = fieldsOf(End, visitor.request);
    const { sessionUid } = visitor;
    if (session === ALL_OTHERS) {
      await end(dependencies, byVisitor(visitor), (access ? everything : allSessions)(sessionUid));
      return goTo(visitor, PATHS.sessions, access ? 'everything' : 'several');
    }
    // The one of this browser ends by signing out.
    if (session !== sessionUid) await end(dependencies, byVisitor(visitor), oneSession(session));
    goTo(visitor, PATHS.sessions, 'one');
  },
});

const DONE = {
  one: 'The session has ended, with the console in that browser.',
  several: 'All other sessions have ended, with the console in them.',
  everything:
    'All other sessions have ended, and so have your access tokens, the access of applications, and the console in this browser.',
};

type ShownSession = {
  readonly uid: string;
  readonly isThis: boolean;
  readonly browser: string;
  readonly network: string | undefined;
  readonly signedInAtS: number;
  readonly seenAtS: number;
};

type SessionsView = AccountView & { readonly sessions: readonly ShownSession[] };

/** The value of the button that ends all sessions but this one. */
const ALL_OTHERS = 'others';

const sessionsPage = ({ sessions, ...view }: SessionsView): Page =>
  accountPage(view, {
    section: PATHS.sessions,
    title: 'Sessions',
    main: html`<h1>Sessions</h1>
<p class="lead">The browsers in which you are signed in. The console in a browser ends with its session.
<a href="${PATHS.applications}">Applications</a> and <a href="${PATHS.tokens}">access tokens</a> continue until you end
them.</p>
<ul class="items">${sessions.map((session) => itemOf(session, view.token))}</ul>
${
  sessions.length > 1 &&
  html`<form method="post" action="${PATHS.sessions}">
${hidden('token', view.token)}
${checkbox({ name: 'access', label: 'End my access tokens, the access of applications, and the console in this browser too' })}
<button class="danger" type="submit" name="session" value="${ALL_OTHERS}">Sign out everywhere else</button>
</form>`
}`,
  });

const itemOf = (
  { uid, isThis, browser, network, signedInAtS, seenAtS }: ShownSession,
  token: string,
): Html => html`<li><div>
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
