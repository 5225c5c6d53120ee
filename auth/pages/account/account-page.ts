import { type PartName, serves, type WithParts } from '#kernel/registry/parts.ts';
import { type Html, html } from '#shared/html.ts';
import type { Page } from '../page.ts';

/** The paths of the account pages, in the order of the navigation. */
export const PATHS = {
  home: '/account',
  profile: '/account/profile',
  security: '/account/security',
  confirmation: '/account/confirm',
  passkeys: '/account/passkeys',
  /** Only with identity providers. */
  identities: '/account/identities',
  password: '/account/password',
  secondFactor: '/account/second-factor',
  recoveryCodes: '/account/recovery-codes',
  applications: '/account/applications',
  tokens: '/account/tokens',
  sessions: '/account/sessions',
  /** A part of the console. */
  webhooks: '/account/webhooks',
  invitations: '/account/invitations',
  data: '/account/data',
  deletion: '/account/delete',
  /** Of a command that waits for the signature of its person. */
  signature: '/account/sign',
} as const;

type Section = {
  readonly path: string;
  readonly label: string;
  readonly isForAdmins?: boolean;
  /** The parts that it needs. */
  readonly parts?: readonly PartName[];
};

/** The pages of the navigation. A page outside it names one of them as its section. */
const SECTIONS: readonly Section[] = [
  { path: PATHS.home, label: 'Account' },
  { path: PATHS.profile, label: 'Profile' },
  { path: PATHS.security, label: 'Signing in' },
  { path: PATHS.applications, label: 'Applications' },
  { path: PATHS.tokens, label: 'Access tokens' },
  { path: PATHS.sessions, label: 'Sessions' },
  { path: PATHS.webhooks, label: 'Webhooks', parts: ['console', 'webhooks'] },
  { path: PATHS.invitations, label: 'Invitations', isForAdmins: true },
];

export type AccountView = {
  /** For the form; bound to the session and to the page. */
  readonly token: string;
  readonly isAdmin: boolean;
  /** The installation, because some pages belong to parts that it may lack. */
  readonly served: WithParts;
  /** A text about what has just been done. */
  readonly done?: string | undefined;
  readonly status?: number;
};

type Content = Pick<Page, 'title' | 'main' | 'note' | 'scriptUrl'> & { readonly section: string };

/** An account page with the navigation. */
export const accountPage = (
  { isAdmin, served, done, status }: AccountView,
  { title, main, note, scriptUrl, section }: Content,
): Page => ({
  title,
  scriptUrl,
  ...(status !== undefined && { status }),
  ...(note !== undefined && { note }),
  isWide: true,
  nav: navigation(section, { isAdmin, served }),
  main: html`${done !== undefined && html`<p class="done" role="status">${done}</p>\n`}${main}`,
});

const navigation = (
  section: string,
  { isAdmin, served }: Pick<AccountView, 'isAdmin' | 'served'>,
): Html => html`<nav aria-label="Your account"><ul>
${SECTIONS.filter(
  ({ isForAdmins, parts = [] }) => (!isForAdmins || isAdmin) && parts.every((part) => serves(served, part)),
).map(
  ({ path, label }) =>
    html`<li><a href="${path}"${path === section && html` aria-current="page"`}>${label}</a></li>\n`,
)}</ul></nav>`;
