import { encode } from 'uqr';
import { type Html, html } from '#shared/html.ts';
import { type AccountView, accountPage, PATHS } from '../pages/account/account-page.ts';
import type { Page } from '../pages/page.ts';
import { field, hasProblems, hidden, type Problems, summaryOf, titleOf } from '../pages/parts/field.ts';
import { PASSWORD_NOTE, passwordField } from '../pages/parts/person-fields.ts';
import { momentOf } from '../pages/parts/time.ts';
import { CODE_MAX } from '../pages/second-factor-page.ts';

export type SetUpView = AccountView & {
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
export const setUpSecondFactorPage = ({ ticket, secret, keyUri, problems, ...view }: SetUpView): Page =>
  accountPage(view, {
    section: PATHS.security,
    title: titleOf('Codes from an app', problems),
    main: html`${summaryOf(problems)}
<h1>Codes from an app</h1>
<p class="lead">An authenticator app on your phone shows a new code every half minute. From then on you sign in with your password and such a code.</p>
<ol class="steps">
<li>Scan this picture with the app, or <a href="${keyUri}">open it on this device</a>.
${qrCode(keyUri, 'The secret below, as a QR code for your app')}
<p class="hint">Cannot scan it? Type this secret into the app:</p>
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

export type TurnOffView = AccountView & {
  readonly madeAt: Date;
  readonly problems: Problems<'password'>;
  /** Without one, the sign-in has been just now. */
  readonly hasPassword: boolean;
};

export const turnOffSecondFactorPage = ({ madeAt, problems, hasPassword, ...view }: TurnOffView): Page =>
  accountPage(view, {
    section: PATHS.security,
    ...(hasPassword && { note: PASSWORD_NOTE }),
    title: titleOf('Codes from an app', problems),
    main: html`${summaryOf(problems)}
<h1>Codes from an app</h1>
<p>On since ${momentOf(madeAt)}. If you turn it off, you sign in with your password or a linked account alone, and your recovery codes stop working. To use another phone, turn it
off and set it up again.</p>
<form method="post" action="${PATHS.secondFactor}" novalidate>
${hidden('token', view.token)}
${
  hasPassword
    ? passwordField({ problem: problems.password, hasFocus: !hasProblems(problems) })
    : hidden('password', '')
}
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
