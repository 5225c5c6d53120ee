import { randomBytes } from 'node:crypto';
import { encode } from 'uqr';
import * as z from 'zod';
import { type Html, html } from '#shared/html.ts';
import { mustConfirm } from '../accounts/confirmed.ts';
import { fieldsOf } from '../accounts/form.ts';
import { type NotifyDependencies, notifyOfChange } from '../mail/notify-of-change.ts';
import { type AccountView, accountPage, PATHS } from '../pages/account/account-page.ts';
import { newRecoveryCodesPage, renewRecoveryCodesPage } from '../pages/account/recovery-codes-pages.ts';
import { answerPage } from '../pages/answer-page.ts';
import { field, hasProblems, hidden, type Problems, summaryOf, titleOf } from '../pages/field.ts';
import type { Page } from '../pages/page.ts';
import { PASSWORD_MAX, PASSWORD_NOTE, passwordField } from '../pages/person-fields.ts';
import { CODE_MAX } from '../pages/second-factor-page.ts';
import { momentOf } from '../pages/time.ts';
import { base32, keyUri, SECRET_BYTES } from '../second-factor/totp.ts';
import { TICKET_MAX } from '../storage/tickets.ts';
import { confirmPassword } from './confirm-password.ts';
import type { OwnAccountDependencies } from './dependencies.ts';
import { type EndDependencies, endSessions, renewSession } from './end-access.ts';
import { type AccountPage, boundTo, goTo, viewOf } from './pages.ts';
import { circumstancesOf, type Visitor } from './visitor.ts';

type Dependencies = NotifyDependencies &
  EndDependencies &
  Pick<
    OwnAccountDependencies,
    'provider' | 'tokens' | 'tickets' | 'secondFactors' | 'credentials' | 'limits' | 'devices' | 'emailHash'
  >;

const Form = z.discriminatedUnion('do', [
  z.object({ do: z.literal('turn-on'), ticket: z.string().max(TICKET_MAX), code: z.string().max(CODE_MAX) }),
  z.object({ do: z.literal('turn-off'), password: z.string().max(PASSWORD_MAX) }),
]);

/** Lets a person set up codes from an app, and turn them off. */
export const secondFactor = (dependencies: Dependencies): AccountPage => ({
  path: PATHS.secondFactor,
  isSensitive: true,
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
    circumstancesOf(visitor),
  );
  if (codes === 'there_already') return goTo(visitor, PATHS.security);
  if (codes === 'wrong')
    return showSetUp(dependencies, visitor, { secret, problems: { code: WRONG }, status: 422 });
  // Sessions that were opened by the password alone may be an attacker's.
  await endSessions(dependencies, visitor, ({ uid }) => uid !== visitor.sessionUid);
  await renewSession(dependencies.provider, visitor, ['otp', 'mfa']);
  notifyOfChange(
    dependencies,
    visitor,
    'codes from an app are asked for from now on when you sign in with your password.',
  );
  // Not by a redirect: only this answer contains the codes.
  const done = 'Codes are turned on.';
  answerPage(visitor.response, newRecoveryCodesPage({ ...viewOf(dependencies, visitor), done, codes }));
};

const WRONG =
  'This is not the code that belongs to this secret now. Look at the app again, and at the clock of your phone.';

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
  if (await dependencies.secondFactors.turnOff(visitor.userId, circumstancesOf(visitor)))
    notifyOfChange(
      dependencies,
      visitor,
      'codes from an app were turned off: the password of your account is enough to sign in.',
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

const showTurnOff = (
  dependencies: Dependencies,
  visitor: Visitor,
  filled: Pick<TurnOffView, 'madeAt' | 'problems' | 'status'>,
): void =>
  answerPage(visitor.response, turnOffSecondFactorPage({ ...viewOf(dependencies, visitor), ...filled }));

type SetUpView = AccountView & {
  /** Carries the secret to the next request. */
  readonly ticket: string;
  /** For typing it in. */
  readonly secret: string;
  readonly keyUri: string;
  readonly problems: Problems<'code'>;
};

/**
 * The visitor must enter a code before anything changes, so that nobody is locked out by a QR code that no
 * app has read.
 */
const setUpSecondFactorPage = ({ ticket, secret, keyUri, problems, ...view }: SetUpView): Page =>
  accountPage(view, {
    section: PATHS.security,
    title: titleOf('Codes from an app', problems),
    main: html`${summaryOf(problems)}
<h1>Codes from an app</h1>
<p class="lead">An authenticator app on your phone shows a new code every half minute. From then on you sign in with your password and such a code.</p>
<ol class="steps">
<li>Scan this picture with the app, or <a href="${keyUri}">open it on this device</a>.
${qrCode(keyUri, 'The secret below, as a QR code for your app')}
<p class="hint">It cannot be scanned? Type this secret into the app:</p>
<p class="link-shown">${secret.match(/.{1,4}/g)?.join(' ') ?? secret}</p></li>
<li>Type the code that the app shows.
<form method="post" action="${PATHS.secondFactor}" novalidate>
${hidden('token', view.token)}
${hidden('ticket', ticket)}
${field({
  name: 'code',
  label: 'Code',
  type: 'digits',
  autocomplete: 'one-time-code',
  problem: problems.code,
  maxLength: CODE_MAX,
})}
<div class="actions"><button class="primary" type="submit" name="do" value="turn-on">Turn it on</button></div>
</form></li>
</ol>
<p><a href="${PATHS.security}">Leave it as it is</a></p>`,
  });

type TurnOffView = AccountView & { readonly madeAt: Date; readonly problems: Problems<'password'> };

const turnOffSecondFactorPage = ({ madeAt, problems, ...view }: TurnOffView): Page =>
  accountPage(view, {
    section: PATHS.security,
    note: PASSWORD_NOTE,
    title: titleOf('Codes from an app', problems),
    main: html`${summaryOf(problems)}
<h1>Codes from an app</h1>
<p>On since ${momentOf(madeAt)}. If you turn it off, your password is enough to sign in, and your recovery codes end. For another phone, turn it
off and set it up again.</p>
<form method="post" action="${PATHS.secondFactor}" novalidate>
${hidden('token', view.token)}
${passwordField({ problem: problems.password, hasFocus: !hasProblems(problems) })}
<div class="actions"><button class="danger" type="submit" name="do" value="turn-off">Turn it off</button></div>
</form>
<p><a href="${PATHS.security}">Keep it on</a></p>`,
  });

/** Modules of quiet zone; readers need four. */
const BORDER = 4;

/** Draws a text as a QR code, dark on light in both colour schemes, because many readers need that. */
const qrCode = (text: string, label: string): Html => {
  const { data, size } = encode(text, { ecc: 'M', border: BORDER });
  const path = data
    .map((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')).join(''))
    .join('');
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">
<rect width="${size}" height="${size}" fill="#fff"/><path d="${path}" fill="#000"/></svg>`;
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
      circumstancesOf(visitor),
    );
    if (codes === undefined) return goTo(visitor, PATHS.security);
    notifyOfChange(
      dependencies,
      visitor,
      'new recovery codes were made for your account; those of before are good no more.',
    );
    answerPage(visitor.response, newRecoveryCodesPage({ ...viewOf(dependencies, visitor), codes }));
  },
});
