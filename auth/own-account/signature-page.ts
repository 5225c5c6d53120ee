import { type Html, html } from '#shared/html.ts';
import { type AccountView, accountPage, PATHS } from '../pages/account/account-page.ts';
import type { Page } from '../pages/page.ts';
import { field, hidden, type Problems, summaryOf, titleOf } from '../pages/parts/field.ts';
import { type PasskeyForm, passkeyForm } from '../pages/parts/passkey-form.ts';
import { PASSWORD_NOTE, passwordField } from '../pages/parts/person-fields.ts';
import { momentOf } from '../pages/parts/time.ts';
import { CODE_MAX } from '../pages/second-factor-page.ts';

export type SignatureView = AccountView & {
  readonly link: string;
  readonly says: string;
  readonly meaning: string;
  readonly item: string | null;
  readonly version: number | null;
  readonly values: readonly (readonly [name: string, value: string])[];
  readonly until: Date;
  /** Undefined if they have no passkey that works here. */
  readonly passkey: PasskeyForm | undefined;
  /** Whether they have a password and codes from an app. */
  readonly hasCodes: boolean;
  readonly problems: Problems<'password' | 'code'>;
};

/** Shows what is signed, and lets the person prove again who they are. */
export const signaturePage = (view: SignatureView): Page => {
  const { says, meaning, item, version, values, until, passkey, hasCodes, problems } = view;
  return accountPage(view, {
    section: PATHS.home,
    title: titleOf('Sign', problems),
    ...(hasCodes && { note: PASSWORD_NOTE }),
    ...(passkey !== undefined && { scriptUrl: passkey.scriptUrl }),
    main: html`${summaryOf(problems)}
<h1>Sign</h1>
<p class="lead">An application asks for your signature. It counts for what you read here, and for nothing else. Do not sign what you have not asked for yourself.</p>
<dl>
<dt>What</dt><dd>${says}</dd>
${item !== null && html`<dt>Item</dt><dd>${item}, version ${version}</dd>\n`}${values.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}<dt>Meaning</dt><dd><strong>${meaning}</strong></dd>
<dt>Until</dt><dd>${momentOf(until)}</dd>
</dl>
${passkey !== undefined && byPasskey(passkey, view)}
${hasCodes && byCode(view, passkey !== undefined)}
${passkey === undefined && !hasCodes && nothingToSignWith}`,
  });
};

type Signing = Pick<SignatureView, 'token' | 'link' | 'problems'>;

const byPasskey = (
  passkey: PasskeyForm,
  { token, link }: Signing,
): Html => html`<p data-without-passkey>This browser cannot use your passkey: it does not support passkeys, or scripts are disabled.</p>
${passkeyForm(
  'get',
  passkey,
  html`${hidden('token', token)}${hidden('link', link)}${hidden('do', 'passkey')}
<div class="actions"><button class="primary" type="submit">Sign with a passkey</button></div>`,
)}`;

const byCode = (
  { token, link, problems }: Signing,
  hasOther: boolean,
): Html => html`${hasOther && html`<h2>Or with your password and a code</h2>\n`}<form method="post" action="${PATHS.signature}" novalidate>
${hidden('token', token)}${hidden('link', link)}
${passwordField({ problem: problems.password })}
${field({
  name: 'code',
  label: 'Code',
  hint: 'The six digits that your app shows now.',
  type: 'digits',
  autocomplete: 'one-time-code',
  problem: problems.code,
  maxLength: CODE_MAX,
})}
<div class="actions"><button type="submit" name="do" value="password">Sign with password and code</button></div>
</form>`;

const nothingToSignWith = html`<p><strong>You have nothing to sign with yet.</strong> <a href="${PATHS.passkeys}">Add a passkey</a>, or <a href="${PATHS.secondFactor}">set up codes from an app</a> beside your password, and open this page again.</p>`;

export const signedPage = (view: AccountView): Page =>
  accountPage(view, {
    section: PATHS.home,
    title: 'Signed',
    main: html`<h1>Signed</h1>
<p class="lead">Close this page, and go back to the application: it sends what you have signed.</p>`,
  });
