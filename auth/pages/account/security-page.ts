import { type Html, html } from '#shared/html.ts';
import type { Page } from '../page.ts';
import { momentOf } from '../time.ts';
import { type AccountView, accountPage, PATHS } from './account-page.ts';
import { confirmFirst } from './confirmation-page.ts';
import { CODES_FEW } from './recovery-codes-pages.ts';

export type SecurityView = AccountView & {
  readonly isUnconfirmed: boolean;
  /** Undefined where there is none. */
  readonly passwordChangedAt: Date | undefined;
  readonly passkeys: readonly { readonly usedAt: Date | null }[];
  readonly secondFactor: { readonly madeAt: Date; readonly codesLeft: number } | undefined;
};

/** The ways to sign in, one item each: what shows who somebody is, when it was set, and where it is changed. */
export const securityPage = ({ passwordChangedAt, passkeys, secondFactor, isUnconfirmed, ...view }: SecurityView): Page =>
  accountPage(view, {
    section: PATHS.security,
    title: 'Signing in',
    main: html`<h1>Signing in</h1>
${isUnconfirmed && confirmFirst('Then you can add passkeys and codes, and allow applications to act for you.')}
<ul class="items">
${passwordItem(passwordChangedAt)}
${passkeysItem(passkeys)}
${secondFactorItem(secondFactor)}
${secondFactor !== undefined && recoveryItem(secondFactor.codesLeft)}
</ul>
<p>See also <a href="${PATHS.sessions}">where you are signed in</a>.</p>`,
  });

type Item = { readonly title: string; readonly text: Html | string; readonly link: { readonly url: string; readonly text: string } };

const itemOf = ({ title, text, link }: Item): Html => html`<li><div><h2>${title}</h2>
<p class="small">${text}</p></div>
<p><a href="${link.url}">${link.text}</a></p></li>`;

const passwordItem = (changedAt: Date | undefined): Html =>
  changedAt === undefined
    ? itemOf({ title: 'Password', text: 'There is none.', link: { url: '/account/reset', text: 'Choose one by a link' } })
    : itemOf({
        title: 'Password',
        text: html`Chosen on ${momentOf(changedAt)}`,
        link: { url: PATHS.password, text: 'Change the password' },
      });

const passkeysItem = (passkeys: SecurityView['passkeys']): Html => {
  const link = { url: PATHS.passkeys, text: passkeys.length === 0 ? 'Add a passkey' : 'Look after passkeys' };
  if (passkeys.length === 0) return itemOf({ title: 'Passkeys', text: 'None: your device could sign you in without a password.', link });
  const used = passkeys.flatMap(({ usedAt }) => usedAt ?? []).toSorted((one, other) => other.getTime() - one.getTime())[0];
  const count = passkeys.length === 1 ? 'One' : passkeys.length;
  return itemOf({
    title: 'Passkeys',
    text: used === undefined ? html`${count}, not used yet` : html`${count}, last used on ${momentOf(used)}`,
    link,
  });
};

const secondFactorItem = (secondFactor: SecurityView['secondFactor']): Html =>
  secondFactor === undefined
    ? itemOf({
        title: 'Codes from an app',
        text: 'Off: your password alone signs you in.',
        link: { url: PATHS.secondFactor, text: 'Set up codes' },
      })
    : itemOf({
        title: 'Codes from an app',
        text: html`Asked after the password, since ${momentOf(secondFactor.madeAt)}`,
        link: { url: PATHS.secondFactor, text: 'Turn codes off' },
      });

const recoveryItem = (left: number): Html =>
  itemOf({
    title: 'Recovery codes',
    text: left < CODES_FEW ? html`<strong>Only ${left} left:</strong> make new ones before you need them.` : `${left} left`,
    link: { url: PATHS.recoveryCodes, text: 'Make new codes' },
  });
