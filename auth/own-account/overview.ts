import { PATHS } from '../pages/account/account-page.ts';
import { homePage } from '../pages/account/home-page.ts';
import { securityPage } from '../pages/account/security-page.ts';
import { answerPage } from '../pages/answer-page.ts';
import type { OwnAccountDependencies } from './dependencies.ts';
import { type AccountPage, viewOf } from './pages.ts';

export const home = (dependencies: Pick<OwnAccountDependencies, 'tokens' | 'readProfile'>): AccountPage => ({
  path: PATHS.home,
  async show(visitor) {
    const { name, email } = await dependencies.readProfile(visitor.userId);
    answerPage(visitor.response, homePage({ ...viewOf(dependencies, visitor), name, email, role: visitor.role }));
  },
});

/** The ways to sign in. */
export const security = (dependencies: Pick<OwnAccountDependencies, 'tokens' | 'credentials'>): AccountPage => ({
  path: PATHS.security,
  async show(visitor) {
    const passwordChangedAt = await dependencies.credentials.changedAt(visitor.userId);
    answerPage(visitor.response, securityPage({ ...viewOf(dependencies, visitor, DONE), passwordChangedAt }));
  },
});

const DONE = {
  password: 'Your password is changed.',
  everywhere: 'Your password is changed, and everything else that was signed in is signed out.',
};
