import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { mustConfirm } from '../accounts/confirmed.ts';
import { fieldsOf } from '../accounts/form.ts';
import { type NotifyDependencies, notifyOfChange } from '../mail/notify-of-change.ts';
import { PATHS } from '../pages/account/account-page.ts';
import { newRecoveryCodesPage, renewRecoveryCodesPage } from '../pages/account/recovery-codes-pages.ts';
import { answerPage } from '../pages/answer-page.ts';
import { PASSWORD_MAX } from '../pages/parts/person-fields.ts';
import { CODE_MAX } from '../pages/second-factor-page.ts';
import { base32, keyUri, SECRET_BYTES } from '../second-factor/totp.ts';
import { TICKET_MAX } from '../storage/tickets.ts';
import { confirmPassword, hasPassword } from './confirm-password.ts';
import type { OwnAccountDependencies } from './dependencies.ts';
import { allSessions, byVisitor, type EndDependencies, end, renewSession } from './end-access.ts';
import { type AccountPage, boundTo, goTo, viewOf } from './pages.ts';
import {
  type SetUpView,
  setUpSecondFactorPage,
  type TurnOffView,
  turnOffSecondFactorPage,
} from './second-factor-pages.ts';
import { securityContextOf, type Visitor } from './visitor.ts';

type Dependencies = NotifyDependencies &
  EndDependencies &
  Pick<
    OwnAccountDependencies,
    | 'pool'
    | 'provider'
    | 'tokens'
    | 'tickets'
    | 'secondFactors'
    | 'credentials'
    | 'limits'
    | 'devices'
    | 'emailHash'
  >;

const Form = z.discriminatedUnion('do', [
  z.object({ do: z.literal('turn-on'), ticket: z.string().max(TICKET_MAX), code: z.string().max(CODE_MAX) }),
  z.object({ do: z.literal('turn-off'), password: z.string().max(PASSWORD_MAX) }),
]);

/** Lets a person set up codes from an app, and turn them off. */
export const secondFactor = (dependencies: Dependencies): AccountPage => ({
  path: PATHS.secondFactor,
  isSensitive: true,
  demandsPassword: true,
  async show(visitor) {
    const present = await dependencies.secondFactors.of(visitor.userId);
    if (present !== undefined)
      return showTurnOff(dependencies, visitor, { madeAt: present.madeAt, problems: {} });
    if (await mustConfirm(dependencies, visitor.userId)) return goTo(visitor, PATHS.confirmation);
    await showSetUp(dependencies, visitor, { secret: randomBytes(SECRET_BYTES), problems: {} });
  },
  submit(visitor) {
    const form = fieldsOf(Form, visitor.request);
    return form.do === 'turn-on'
      ? turnOn(dependencies, visitor, form)
      : turnOff(dependencies, visitor, form.password);
  },
});

const turnOn = async (
  dependencies: Dependencies,
  visitor: Visitor,
  { ticket, code }: { readonly ticket: string; readonly code: string },
): Promise<void> => {
  if (await mustConfirm(dependencies, visitor.userId)) return goTo(visitor, PATHS.confirmation);
  const content = dependencies.tickets.open('second factor', boundTo(visitor), ticket);
  // The ticket has expired: show a new QR code.
  if (content?.secret === undefined) return goTo(visitor, PATHS.secondFactor);
  const secret = Buffer.from(content.secret, 'base64url');
  const codes = await dependencies.secondFactors.turnOn(
    visitor.userId,
    { secret, code },
    securityContextOf(visitor),
  );
  if (codes === 'there_already') return goTo(visitor, PATHS.security);
  if (codes === 'wrong')
    return showSetUp(dependencies, visitor, { secret, problems: { code: WRONG }, status: 422 });
  // Sessions that were opened by the password alone may be an attacker's.
  await end(dependencies, byVisitor(visitor), allSessions(visitor.sessionUid));
  await renewSession(dependencies.provider, visitor, ['otp', 'mfa']);
  notifyOfChange(
    dependencies,
    visitor,
    'From now on, signing in with your password also requires a code from your app.',
  );
  // Not by a redirect: only this answer contains the codes.
  const done = 'Codes are turned on.';
  answerPage(visitor.response, newRecoveryCodesPage({ ...viewOf(dependencies, visitor), done, codes }));
};

const WRONG =
  'This is not the current code for this secret. Check the app again, and the clock of your phone.';

const turnOff = async (dependencies: Dependencies, visitor: Visitor, password: string): Promise<void> => {
  const present = await dependencies.secondFactors.of(visitor.userId);
  if (present === undefined) return goTo(visitor, PATHS.security);
  const unconfirmed = await confirmPassword(dependencies, visitor, password);
  if (unconfirmed !== undefined) {
    const { text, status } = unconfirmed;
    return showTurnOff(dependencies, visitor, {
      madeAt: present.madeAt,
      problems: { password: text },
      status,
    });
  }
  if (await dependencies.secondFactors.turnOff(visitor.userId, securityContextOf(visitor)))
    notifyOfChange(
      dependencies,
      visitor,
      'Codes from an app were turned off: the password of your account is now enough to sign in.',
    );
  goTo(visitor, PATHS.security, 'codes-off');
};

/** Without a colon, which the key URI uses as a separator. */
const issuerNameOf = (issuerUrl: string): string => `Annals (${new URL(issuerUrl).hostname})`;

type SetUp = Pick<SetUpView, 'problems' | 'status'> & { readonly secret: Buffer };

const showSetUp = async (
  dependencies: Dependencies,
  visitor: Visitor,
  { secret, ...filled }: SetUp,
): Promise<void> => {
  const { email } = await dependencies.readProfile(visitor.userId);
  const ticket = dependencies.tickets.issue('second factor', boundTo(visitor), {
    secret: secret.toString('base64url'),
  });
  const uri = keyUri(secret, {
    issuer: issuerNameOf(dependencies.issuerUrl),
    account: email ?? `account ${visitor.userId}`,
  });
  answerPage(
    visitor.response,
    setUpSecondFactorPage({
      ...viewOf(dependencies, visitor),
      ...filled,
      ticket,
      secret: base32(secret),
      keyUri: uri,
    }),
  );
};

const showTurnOff = async (
  dependencies: Dependencies,
  visitor: Visitor,
  filled: Pick<TurnOffView, 'madeAt' | 'problems' | 'status'>,
): Promise<void> => {
  const view = { ...viewOf(dependencies, visitor), ...filled };
  const isAsked = await hasPassword(dependencies, visitor.userId);
  answerPage(visitor.response, turnOffSecondFactorPage({ ...view, hasPassword: isAsked }));
};

type CodesDependencies = NotifyDependencies & Pick<OwnAccountDependencies, 'tokens' | 'secondFactors'>;

/** Issues new recovery codes to a person who has used up or lost the former ones. */
export const recoveryCodes = (dependencies: CodesDependencies): AccountPage => ({
  path: PATHS.recoveryCodes,
  isSensitive: true,
  async show(visitor) {
    const present = await dependencies.secondFactors.of(visitor.userId);
    if (present === undefined) return goTo(visitor, PATHS.security);
    answerPage(
      visitor.response,
      renewRecoveryCodesPage({ ...viewOf(dependencies, visitor), codesLeft: present.codesLeft }),
    );
  },
  async submit(visitor) {
    const codes = await dependencies.secondFactors.renewRecoveryCodes(
      visitor.userId,
      securityContextOf(visitor),
    );
    if (codes === undefined) return goTo(visitor, PATHS.security);
    notifyOfChange(
      dependencies,
      visitor,
      'New recovery codes were created for your account; the old ones no longer work.',
    );
    answerPage(visitor.response, newRecoveryCodesPage({ ...viewOf(dependencies, visitor), codes }));
  },
});
