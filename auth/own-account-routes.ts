import { Router } from 'express';
import { createInvitations } from './invitations/invitations.ts';
import { managedAccountRoutes } from './managed-accounts/routes.ts';
import { applications } from './own-account/applications.ts';
import { confirmation } from './own-account/confirmation.ts';
import { deletion, erasedRoutes } from './own-account/deletion.ts';
import type { OwnAccountDependencies } from './own-account/dependencies.ts';
import { invitations } from './own-account/invitations.ts';
import { invitedRoutes } from './own-account/invited-routes.ts';
import { home, security } from './own-account/overview.ts';
import { type AccountPage, routesOf, signedInRoutes } from './own-account/pages.ts';
import { passkeys } from './own-account/passkeys.ts';
import { password } from './own-account/password.ts';
import { profile } from './own-account/profile.ts';
import { resetRoutes } from './own-account/reset-routes.ts';
import { recoveryCodes, secondFactor } from './own-account/second-factor.ts';
import { sessions } from './own-account/sessions.ts';
import { tokens } from './own-account/tokens.ts';
import { createPasswordResets } from './password-reset/password-reset.ts';
import { speakAsIssuer } from './provider/speak-as-issuer.ts';
import { createEndAccess } from './storage/end-access.ts';
import { readAllowedClients } from './storage/grants.ts';
import { createSessions } from './storage/sessions.ts';

/**
 * The pages under `/account`: for signed-in persons, for the recovery of an account, and for invited persons.
 */
export const ownAccountRoutes = (given: OwnAccountParts): Router => {
  const dependencies: OwnAccountDependencies = {
    ...given,
    sessions: createSessions(given),
    readAllowedClients: readAllowedClients(given),
    endAccess: createEndAccess(given),
    resets: createPasswordResets(given),
    invitations: createInvitations(given),
  };
  const pages: readonly AccountPage[] = PAGES.map((page) => page(dependencies));
  return Router()
    .use(managedAccountRoutes(dependencies))
    .use('/account', speakAsIssuer(dependencies.issuerUrl))
    .use(signedInRoutes(), resetRoutes(dependencies), invitedRoutes(dependencies), erasedRoutes(dependencies))
    .use(pages.map((page) => routesOf(dependencies, page)));
};

const PAGES = [
  home,
  profile,
  security,
  confirmation,
  password,
  passkeys,
  secondFactor,
  recoveryCodes,
  applications,
  tokens,
  sessions,
  invitations,
  deletion,
] as const;

type OwnAccountParts = Omit<
  OwnAccountDependencies,
  'sessions' | 'readAllowedClients' | 'endAccess' | 'resets' | 'invitations'
>;
