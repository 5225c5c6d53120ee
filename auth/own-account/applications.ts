import * as z from 'zod';
import { ACCOUNT_CLIENT_ID } from '#shared/policy.ts';
import { fieldsOf } from '../accounts/form.ts';
import { PATHS } from '../pages/account/account-page.ts';
import { applicationsPage, type ShownApplication } from '../pages/account/applications-page.ts';
import { answerPage } from '../pages/answer-page.ts';
import { inWords } from '../pages/scope-words.ts';
import type { AllowedClient } from '../storage/grants.ts';
import type { OwnAccountDependencies } from './dependencies.ts';
import { endApplications } from './end-access.ts';
import { type AccountPage, goTo, viewOf } from './pages.ts';

type Dependencies = Pick<OwnAccountDependencies, 'domain' | 'pool' | 'tokens' | 'clients' | 'sessions' | 'record' | 'readAllowedClients'>;

const CLIENT_ID_MAX = 200;
const End = z.object({ client: z.string().max(CLIENT_ID_MAX) });

export const applications = (dependencies: Dependencies): AccountPage => ({
  path: PATHS.applications,
  async show(visitor) {
    const allowed = (await dependencies.readAllowedClients(visitor.userId)).filter(({ clientId }) => clientId !== ACCOUNT_CLIENT_ID);
    const shown = await Promise.all(allowed.map((each) => shownAs(dependencies, each)));
    answerPage(visitor.response, applicationsPage({ ...viewOf(dependencies, visitor, DONE), applications: shown }));
  },
  async submit(visitor) {
    const { client } = fieldsOf(End, visitor.request);
    await endApplications(dependencies, visitor, ({ clientId }) => clientId === client);
    goTo(visitor, PATHS.applications, 'ended');
  },
});

const DONE = { ended: 'The application may not act for you any more.' };

const shownAs = async (
  { domain, clients }: Dependencies,
  { clientId, scopes, sinceS, usedAtS }: AllowedClient,
): Promise<ShownApplication> => {
  const client = await clients.find(clientId);
  return {
    clientId,
    name: client?.name ?? clientId,
    isOurs: client?.firstParty ?? false,
    scopes: inWords(domain, scopes),
    sinceS,
    usedAtS,
  };
};
