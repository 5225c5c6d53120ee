import { Router } from 'express';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { createInvitations } from '../invitations/invitations.ts';
import { createPasswordResets } from '../password-reset/password-reset.ts';
import { speakAsIssuer } from '../provider/speak-as-issuer.ts';
import { readAllowedClients } from '../storage/grants.ts';
import { createRecordSeal } from '../storage/seal-record.ts';
import { createSessions } from '../storage/sessions.ts';
import { applications } from './applications.ts';
import { deletion, erasedRoutes } from './deletion.ts';
import type { OwnAccountDependencies } from './dependencies.ts';
import { invitations } from './invitations.ts';
import { invitedRoutes } from './invited-routes.ts';
import { home, security } from './overview.ts';
import { type AccountPage, routesOf, signedInRoutes } from './pages.ts';
import { password } from './password.ts';
import { profile } from './profile.ts';
import { resetRoutes } from './reset-routes.ts';
import { sessions } from './sessions.ts';

/** The pages under `/account`: those of who is signed in, and those by which somebody comes back or comes for the first time. */
export const ownAccountRoutes = (given: Given): Router => {
  const seal = createRecordSeal(given.masterKey);
  const based = { ...given, seal };
  const dependencies: OwnAccountDependencies = {
    ...based,
    sessions: createSessions(based),
    readAllowedClients: readAllowedClients(based),
    resets: createPasswordResets(based),
    invitations: createInvitations(based),
  };
  const pages: readonly AccountPage[] = [home, profile, security, password, applications, sessions, invitations, deletion].map((page) =>
    page(dependencies),
  );
  return Router()
    .use('/account', speakAsIssuer(dependencies.issuerUrl))
    .use(signedInRoutes(), resetRoutes(dependencies), invitedRoutes(dependencies), erasedRoutes(dependencies))
    .use(pages.map((page) => routesOf(dependencies, page)));
};

type Made = 'seal' | 'sessions' | 'readAllowedClients' | 'resets' | 'invitations';
type Given = Omit<OwnAccountDependencies, Made> & { readonly masterKey: MasterKey };
