import * as z from 'zod';
import type { UserId } from '#kernel/base/brands.ts';
import { isAddress } from '#shared/clients/document-address.ts';
import { type Html, html } from '#shared/html.ts';
import { ACCOUNT_CLIENT_ID } from '#shared/policy.ts';
import { fieldsOf } from '../accounts/form.ts';
import type { Agent } from '../agents/agents.ts';
import { findReachable } from '../clients/find-reachable.ts';
import { type AccountView, accountPage, PATHS } from '../pages/account/account-page.ts';
import { answerPage } from '../pages/answer-page.ts';
import type { Page } from '../pages/page.ts';
import { hidden } from '../pages/parts/field.ts';
import { momentOf, momentOfSeconds } from '../pages/parts/time.ts';
import { inWords, type WordedScope } from '../pages/scope-words.ts';
import type { AllowedClient } from '../storage/grants.ts';
import type { OwnAccountDependencies } from './dependencies.ts';
import { byVisitor, end, oneApplication } from './end-access.ts';
import { type AccountPage, goTo, viewOf } from './pages.ts';
import { securityContextOf } from './visitor.ts';

type Dependencies = Pick<
  OwnAccountDependencies,
  'domain' | 'tokens' | 'clients' | 'record' | 'readAllowedClients' | 'endAccess' | 'agents'
>;

const CLIENT_ID_MAX = 200;
const client = z.string().max(CLIENT_ID_MAX);
const Form = z.discriminatedUnion('do', [
  z.object({ do: z.literal('end'), client }),
  z.object({ do: z.literal('end-agent'), client }),
  z.object({ do: z.literal('allow-agent'), client }),
]);

export const applications = (dependencies: Dependencies): AccountPage => ({
  path: PATHS.applications,
  async show(visitor) {
    const allowed = (await dependencies.readAllowedClients(visitor.userId)).filter(
      ({ clientId }) => clientId !== ACCOUNT_CLIENT_ID,
    );
    const [shown, agents] = await Promise.all([
      Promise.all(allowed.map((each) => shownAs(dependencies, each))),
      agentsFor(dependencies, visitor.userId),
    ]);
    answerPage(
      visitor.response,
      applicationsPage({ ...viewOf(dependencies, visitor, DONE), applications: shown, agents }),
    );
  },
  async submit(visitor) {
    const form = fieldsOf(Form, visitor.request);
    const by = securityContextOf(visitor);
    if (form.do === 'end-agent') {
      await dependencies.agents.end(visitor.userId, form.client, by);
      return goTo(visitor, PATHS.applications, 'agent-ended');
    }
    if (form.do === 'allow-agent') {
      await dependencies.agents.allow(visitor.userId, form.client, by);
      return goTo(visitor, PATHS.applications, 'agent-allowed');
    }
    await end(dependencies, byVisitor(visitor), oneApplication(form.client));
    goTo(visitor, PATHS.applications, 'ended');
  },
});

const DONE = {
  ended: 'The application can no longer act for you.',
  'agent-ended': 'The agent can no longer act for you.',
  'agent-allowed': 'The agent can act for you again.',
};

const agentsFor = async (
  { domain, clients, agents }: Dependencies,
  userId: UserId,
): Promise<readonly ShownAgent[]> =>
  Promise.all(
    (await agents.of(userId)).map(async ({ agent, application, scopes, ...times }) => ({
      clientId: agent,
      name: (await findReachable(clients, agent))?.name ?? agent,
      through: (await findReachable(clients, application))?.name ?? application,
      scopes: inWords(domain, scopes),
      ...times,
    })),
  );

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

type ShownAgent = Pick<Agent, 'since' | 'usedAt' | 'endedAt'> & {
  readonly clientId: string;
  readonly name: string;
  readonly through: string;
  readonly scopes: readonly WordedScope[];
};

type ApplicationsView = AccountView & {
  readonly applications: readonly ShownApplication[];
  readonly agents: readonly ShownAgent[];
};

const applicationsPage = ({ applications, agents, ...view }: ApplicationsView): Page =>
  accountPage(view, {
    section: PATHS.applications,
    title: 'Applications',
    main: html`<h1>Applications</h1>
<p class="lead">${
      applications.length === 0
        ? 'No application can act for you. If you allow one to, it is listed here with its permissions.'
        : 'These can act for you. Access that you end stops within seconds; the application can ask you again.'
    }</p>
${applications.length > 0 && html`<ul class="items">${applications.map((application) => itemOf(application, view.token))}</ul>`}
${
  agents.length > 0 &&
  html`<h2>Agents</h2>
<p>Applications passed your access on to these. They act for you with less than the application may.</p>
<ul class="items">${agents.map((agent) => agentItem(agent, view.token))}</ul>`
}`,
  });

const agentItem = (
  { clientId, name, through, scopes, since, usedAt, endedAt }: ShownAgent,
  token: string,
): Html => html`<li><div>
<h3>${name}</h3>
<p class="small">Through ${through}, since ${momentOf(since)}, last used ${momentOf(usedAt)}</p>
${endedAt !== null && html`<p class="small"><strong>Ended by you</strong> on ${momentOf(endedAt)}</p>`}
<ul class="scopes">${scopes.map(({ scope, words }) => html`<li>${words ?? scope}</li>`)}</ul></div>
<form method="post" action="${PATHS.applications}">
${hidden('token', token)}${hidden('client', clientId)}
${
  endedAt === null
    ? html`<button type="submit" name="do" value="end-agent" aria-label="End the access of the agent ${name}">End</button>`
    : html`<button type="submit" name="do" value="allow-agent" aria-label="Allow the agent ${name} again">Allow again</button>`
}
</form></li>`;

const itemOf = (
  { clientId, name, isOurs, scopes, sinceS, usedAtS }: ShownApplication,
  token: string,
): Html => html`<li><div>
<h2>${name}</h2>
${isAddress(clientId) && html`<p class="small"><bdi>${clientId}</bdi></p>`}
<p class="small">${isOurs && 'Our own. '}Since ${momentOfSeconds(sinceS)}${usedAtS !== undefined && html`, last used ${momentOfSeconds(usedAtS)}`}</p>
<ul class="scopes">${scopes.map(({ scope, words }) => html`<li>${words ?? scope}</li>`)}</ul></div>
<form method="post" action="${PATHS.applications}">
${hidden('token', token)}${hidden('do', 'end')}${hidden('client', clientId)}
<button type="submit" aria-label="End the access of ${name}">End</button>
</form></li>`;
