import { roleTextOf } from '#kernel/registry/roles.ts';
import { mustConfirm } from '../accounts/confirmed.ts';
import { PATHS } from '../pages/account/account-page.ts';
import { homePage } from '../pages/account/home-page.ts';
import { securityPage } from '../pages/account/security-page.ts';
import { answerPage } from '../pages/answer-page.ts';
import type { OwnAccountDependencies } from './dependencies.ts';
import { type AccountPage, viewOf } from './pages.ts';

export const home = (dependencies: Pick<OwnAccountDependencies, 'domain' | 'tokens' | 'readProfile'>): AccountPage => ({
  path: PATHS.home,
  async show(visitor) {
    const { name, email } = await dependencies.readProfile(visitor.userId);
    const role = roleTextOf(dependencies.domain, visitor.role);
    answerPage(visitor.response, homePage({ ...viewOf(dependencies, visitor), name, email, role }));
  },
});

/** The ways to sign in. */
export const security = (
  dependencies: Pick<OwnAccountDependencies, 'pool' | 'post' | 'tokens' | 'credentials' | 'passkeys' | 'secondFactors'>,
): AccountPage => ({
  path: PATHS.security,
  async show(visitor) {
    const { userId } = visitor;
    const [passwordChangedAt, passkeys, secondFactor, isUnconfirmed] = await Promise.all([
      dependencies.credentials.changedAt(userId),
      dependencies.passkeys.of(userId),
      dependencies.secondFactors.of(userId),
      mustConfirm(dependencies, userId),
    ]);
    const ways = { passwordChangedAt, passkeys, secondFactor, isUnconfirmed };
    answerPage(visitor.response, securityPage({ ...viewOf(dependencies, visitor, DONE), ...ways }));
  },
});

const DONE = {
  confirmed: 'Your address is confirmed.',
  password: 'Your password is changed.',
  everywhere: 'Your password is changed, and everything else that was signed in is signed out.',
  'codes-off': 'Codes are turned off: your password alone signs you in.',
};
