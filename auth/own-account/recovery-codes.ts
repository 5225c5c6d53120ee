import { type TellDependencies, tellOfChange } from '../mail/tell-of-change.ts';
import { PATHS } from '../pages/account/account-page.ts';
import { newRecoveryCodesPage, renewRecoveryCodesPage } from '../pages/account/recovery-codes-pages.ts';
import { answerPage } from '../pages/answer-page.ts';
import type { OwnAccountDependencies } from './dependencies.ts';
import { type AccountPage, goTo, viewOf } from './pages.ts';
import { circumstancesOf } from './visitor.ts';

type Dependencies = TellDependencies & Pick<OwnAccountDependencies, 'tokens' | 'secondFactors'>;

/** New ones for who has used up those of before, or has lost them. */
export const recoveryCodes = (dependencies: Dependencies): AccountPage => ({
  path: PATHS.recoveryCodes,
  isSensitive: true,
  async show(visitor) {
    const present = await dependencies.secondFactors.of(visitor.userId);
    if (present === undefined) return goTo(visitor, PATHS.security);
    answerPage(visitor.response, renewRecoveryCodesPage({ ...viewOf(dependencies, visitor), codesLeft: present.codesLeft }));
  },
  async submit(visitor) {
    const codes = await dependencies.secondFactors.renewRecoveryCodes(visitor.userId, circumstancesOf(visitor));
    if (codes === undefined) return goTo(visitor, PATHS.security);
    tellOfChange(dependencies, visitor, 'new recovery codes were made for your account; those of before are good no more.');
    answerPage(visitor.response, newRecoveryCodesPage({ ...viewOf(dependencies, visitor), codes }));
  },
});
