import { type Html, html } from '#shared/html.ts';
import { hidden } from '../field.ts';
import type { Page } from '../page.ts';
import type { WordedScope } from '../scope-words.ts';
import { momentOfSeconds } from '../time.ts';
import { type AccountView, accountPage, PATHS } from './account-page.ts';

export type ShownApplication = {
  readonly clientId: string;
  readonly name: string;
  readonly isOurs: boolean;
  readonly scopes: readonly WordedScope[];
  readonly sinceS: number;
  readonly usedAtS: number | undefined;
};

export type ApplicationsView = AccountView & { readonly applications: readonly ShownApplication[] };

export const applicationsPage = ({ applications, ...view }: ApplicationsView): Page =>
  accountPage(view, {
    section: PATHS.applications,
    title: 'Applications',
    main: html`<h1>Applications</h1>
<p class="lead">${
      applications.length === 0
        ? 'No application may act for you. One that asks for it names here what you have allowed it.'
        : 'These may act for you. What you end ends within seconds; the application can ask you again.'
    }</p>
${applications.length > 0 && html`<ul class="items">${applications.map((application) => itemOf(application, view.token))}</ul>`}`,
  });

const itemOf = ({ clientId, name, isOurs, scopes, sinceS, usedAtS }: ShownApplication, token: string): Html => html`<li><div>
<h2>${name}</h2>
<p class="small">${isOurs && 'Our own. '}Since ${momentOfSeconds(sinceS)}${usedAtS !== undefined && html`, last used ${momentOfSeconds(usedAtS)}`}</p>
<ul class="scopes">${scopes.map(({ scope, words }) => html`<li>${words ?? scope}</li>`)}</ul></div>
<form method="post" action="${PATHS.applications}">
${hidden('token', token)}${hidden('client', clientId)}
<button type="submit" aria-label="End what ${name} may do">End</button>
</form></li>`;
