import * as z from 'zod';
import { isAddress } from '#shared/clients/document-address.ts';
import { type Html, html } from '#shared/html.ts';
import { ACCOUNT_CLIENT_ID } from '#shared/policy.ts';
import { fieldsOf } from '../accounts/form.ts';
import { findReachable } from '../clients/find-reachable.ts';
import { type AccountView, accountPage, PATHS } from '../pages/account/account-page.ts';
import { answerPage } from '../pages/answer-page.ts';
import type { Page } from '../pages/page.ts';
import { hidden } from '../pages/parts/field.ts';
import { momentOfSeconds } from '../pages/parts/time.ts';
import { inWords, type WordedScope } from '../pages/scope-words.ts';
import type { AllowedClient } from '../storage/grants.ts';
import type { OwnAccountDependencies } from './dependencies.ts';
import { byVisitor, end, oneApplication } from './end-access.ts';
import { type AccountPage, goTo, viewOf } from './pages.ts';

type Dependencies = Pick<
  OwnAccountDependencies,
  'domain' | 'tokens' | 'clients' | 'record' | 'readAllowedClients' | 'endAccess'
>;

const CLIENT_ID_MAX = 200;
const End = z.object({ client: z.string().max(CLIENT_ID_MAX) });

export const applications = (dependencies: Dependencies): AccountPage => ({
  path: PATHS.applications,
  async show(visitor) {
    const allowed = (await dependencies.readAllowedClients(visitor.userId)).filter(
      ({ clientId }) => clientId !== ACCOUNT_CLIENT_ID,
    );
    const shown = await Promise.all(allowed.map((each) => shownAs(dependencies, each)));
    answerPage(
      visitor.response,
      applicationsPage({ ...viewOf(dependencies, visitor, DONE), applications: shown }),
    );
  },
  async submit(visitor) {
    const { client } = fieldsOf(End, visitor.request);
    await end(dependencies, byVisitor(visitor), oneApplication(client));
    goTo(visitor, PATHS.applications, 'ended');
  },
});

const DONE = { ended: 'The application can no longer act for you.' };

const shownAs = async (
  { domain, clients }: Dependencies,
  { clientId, scopes, sinceS, usedAtS }: AllowedClient,
): Promise<ShownApplication> => {
  const client = await findReachable(clients, clientId);
  return {
    clientId,
    name: client?.name ?? clientId,
    isOurs: client?.firstParty ?? false,
    scopes: inWords(domain, scopes),
    sinceS,
    usedAtS,
  };
};

type ShownApplication = {
  readonly clientId: string;
  readonly name: string;
  readonly isOurs: boolean;
  readonly scopes: readonly WordedScope[];
  readonly sinceS: number;
  readonly usedAtS: number | undefined;
};

type ApplicationsView = AccountView & { readonly applications: readonly ShownApplication[] };

const applicationsPage = ({ applications, ...view }: ApplicationsView): Page =>
  accountPage(view, {
    section: PATHS.applications,
    title: 'Applications',
    main: html`<h1>Applications</h1>
<p class="lead">${
      applications.length === 0
        ? 'No application can act for you. If you allow one to, it is listed here with its permissions.'
        : 'These can act for you. Access that you end stops within seconds; the application can ask you again.'
    }</p>
${applications.length > 0 && html`<ul class="items">${applications.map((application) => itemOf(application, view.token))}</ul>`}`,
  });

const itemOf = (
  { clientId, name, isOurs, scopes, sinceS, usedAtS }: ShownApplication,
  token: string,
): Html => html`<li><div>
<h2>${name}</h2>
${isAddress(clientId) && html`<p class="small"><bdi>${clientId}</bdi></p>`}
<p class="small">${isOurs && 'Our own. '}Since ${momentOfSeconds(sinceS)}${usedAtS !== undefined && html`, last used ${momentOfSeconds(usedAtS)}`}</p>
<ul class="scopes">${scopes.map(({ scope, words }) => html`<li>${words ?? scope}</li>`)}</ul></div>
<form method="post" action="${PATHS.applications}">
${hidden('token', token)}${hidden('client', clientId)}
<button type="submit" aria-label="End the access of ${name}">End</button>
</form></li>`;
