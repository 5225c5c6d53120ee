import { roleTextOf } from '#kernel/registry/roles.ts';
import { type Html, html } from '#shared/html.ts';
import { mustConfirm } from '../accounts/confirmed.ts';
import { type AccountView, accountPage, PATHS } from '../pages/account/account-page.ts';
import { confirmFirst } from '../pages/account/confirmation-page.ts';
import { CODES_FEW } from '../pages/account/recovery-codes-pages.ts';
import { answerPage } from '../pages/answer-page.ts';
import type { Page } from '../pages/page.ts';
import { momentOf } from '../pages/parts/time.ts';
import type { OwnAccountDependencies } from './dependencies.ts';
import { type AccountPage, viewOf } from './pages.ts';

export const home = (
  dependencies: Pick<OwnAccountDependencies, 'domain' | 'tokens' | 'readProfile'>,
): AccountPage => ({
  path: PATHS.home,
  async show(visitor) {
    const { name, email } = await dependencies.readProfile(visitor.userId);
    const role = roleTextOf(dependencies.domain, visitor.role);
    answerPage(visitor.response, homePage({ ...viewOf(dependencies, visitor), name, email, role }));
  },
});

export const security = (
  dependencies: Pick<
    OwnAccountDependencies,
    'pool' | 'post' | 'tokens' | 'credentials' | 'passkeys' | 'secondFactors' | 'identities' | 'hasUpstreams'
  >,
): AccountPage => ({
  path: PATHS.security,
  async show(visitor) {
    const { userId } = visitor;
    const { hasUpstreams } = dependencies;
    const [passwordChangedAt, passkeys, identities, secondFactor, isUnconfirmed] = await Promise.all([
      dependencies.credentials.changedAt(userId),
      dependencies.passkeys.of(userId),
      hasUpstreams ? dependencies.identities.of(userId) : undefined,
      dependencies.secondFactors.of(userId),
      mustConfirm(dependencies, userId),
    ]);
    const ways = { passwordChangedAt, passkeys, identities, secondFactor, isUnconfirmed };
    answerPage(visitor.response, securityPage({ ...viewOf(dependencies, visitor, DONE), ...ways }));
  },
});

const DONE = {
  confirmed: 'Your address is confirmed.',
  password: 'Your password was changed.',
  everywhere: 'Your password was changed, and you were signed out everywhere else.',
  'codes-off': 'Codes are turned off: you sign in with your password alone.',
};

type HomeView = AccountView & {
  readonly name: string | undefined;
  readonly email: string | undefined;
  readonly role: string;
};

const homePage = ({ name, email, role, ...view }: HomeView): Page =>
  accountPage(view, {
    section: PATHS.home,
    title: 'Your account',
    main: html`<h1>${name ?? 'Your account'}</h1>
<dl>
<dt>E-mail address</dt><dd>${email ?? 'None'}</dd>
<dt>Role</dt><dd>${role}</dd>
</dl>
<ul class="items">
<li><div><h2><a href="${PATHS.profile}">Profile</a></h2><p class="small">Your name and your e-mail address</p></div></li>
<li><div><h2><a href="${PATHS.security}">Signing in</a></h2><p class="small">Your password, passkeys and codes</p></div></li>
<li><div><h2><a href="${PATHS.applications}">Applications</a></h2><p class="small">Those that may act for you, and their permissions</p></div></li>
<li><div><h2><a href="${PATHS.tokens}">Access tokens</a></h2><p class="small">For scripts that act for you</p></div></li>
<li><div><h2><a href="${PATHS.sessions}">Sessions</a></h2><p class="small">Where you are signed in</p></div></li>
${
  view.isAdmin &&
  html`<li><div><h2><a href="${PATHS.invitations}">Invitations</a></h2><p class="small">People you have invited</p></div></li>\n`
}<li><div><h2><a href="${PATHS.data}">Your data</a></h2><p class="small">Everything that is stored about you, as a file</p></div></li>
<li><div><h2><a href="${PATHS.deletion}">Delete the account</a></h2><p class="small">And erase your personal data</p></div></li>
</ul>
<p><a href="/sign-out">Sign out</a></p>`,
  });

type SecurityView = AccountView & {
  readonly isUnconfirmed: boolean;
  readonly passwordChangedAt: Date | undefined;
  readonly passkeys: readonly { readonly usedAt: Date | null }[];
  /** Undefined if there are no identity providers. */
  readonly identities: readonly { readonly shownAs: string }[] | undefined;
  readonly secondFactor: { readonly madeAt: Date; readonly codesLeft: number } | undefined;
};

/** The ways to sign in, one item each: what proves the identity, when it was set, and where to change it. */
const securityPage = ({
  passwordChangedAt,
  passkeys,
  identities,
  secondFactor,
  isUnconfirmed,
  ...view
}: SecurityView): Page =>
  accountPage(view, {
    section: PATHS.security,
    title: 'Signing in',
    main: html`<h1>Signing in</h1>
${isUnconfirmed && confirmFirst('Then you can add passkeys and codes, and allow applications to act for you.')}
<ul class="items">
${passwordItem(passwordChangedAt)}
${passkeysItem(passkeys)}
${identities !== undefined && identitiesItem(identities)}
${secondFactorItem(secondFactor)}
${secondFactor !== undefined && recoveryItem(secondFactor.codesLeft)}
</ul>
<p>See also <a href="${PATHS.sessions}">where you are signed in</a>.</p>`,
  });

type Item = {
  readonly title: string;
  readonly text: Html | string;
  readonly link: { readonly url: string; readonly text: string };
};

const itemOf = ({ title, text, link }: Item): Html => html`<li><div><h2>${title}</h2>
<p class="small">${text}</p></div>
<p><a href="${link.url}">${link.text}</a></p></li>`;

const passwordItem = (changedAt: Date | undefined): Html =>
  changedAt === undefined
    ? itemOf({
        title: 'Password',
        text: 'You have no password.',
        link: { url: '/account/reset', text: 'Get a link to choose one' },
      })
    : itemOf({
        title: 'Password',
        text: html`Chosen on ${momentOf(changedAt)}`,
        link: { url: PATHS.password, text: 'Change the password' },
      });

const passkeysItem = (passkeys: SecurityView['passkeys']): Html => {
  const link = { url: PATHS.passkeys, text: passkeys.length === 0 ? 'Add a passkey' : 'Manage passkeys' };
  if (passkeys.length === 0)
    return itemOf({
      title: 'Passkeys',
      text: 'None. A passkey signs you in without a password.',
      link,
    });
  const used = passkeys
    .flatMap(({ usedAt }) => usedAt ?? [])
    .toSorted((one, other) => other.getTime() - one.getTime())[0];
  const count = passkeys.length === 1 ? 'One' : passkeys.length;
  return itemOf({
    title: 'Passkeys',
    text: used === undefined ? html`${count}, not used yet` : html`${count}, last used on ${momentOf(used)}`,
    link,
  });
};

const identitiesItem = (identities: NonNullable<SecurityView['identities']>): Html =>
  itemOf({
    title: 'Linked accounts',
    text:
      identities.length === 0
        ? 'None. With one, you sign in without a password here.'
        : identities.map(({ shownAs }) => shownAs).join(', '),
    link: {
      url: PATHS.identities,
      text: identities.length === 0 ? 'Link an account' : 'Manage linked accounts',
    },
  });

const secondFactorItem = (secondFactor: SecurityView['secondFactor']): Html =>
  secondFactor === undefined
    ? itemOf({
        title: 'Codes from an app',
        text: 'Off: you sign in with your password alone.',
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
    text:
      left < CODES_FEW
        ? html`<strong>Only ${left} left:</strong> create new ones before you need them.`
        : `${left} left`,
    link: { url: PATHS.recoveryCodes, text: 'Create new codes' },
  });
