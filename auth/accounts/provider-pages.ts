// Over 200 lines, because it is one set of pages: those that the authorization server shows by itself.
import type { Client, KoaContextWithOIDC } from 'oidc-provider';
import { html } from '#shared/html.ts';
import { renderInto } from '../pages/answer-page.ts';
import {
  deviceAbortedPage,
  deviceCodeAgainPage,
  deviceCodePage,
  deviceConfirmPage,
  deviceDonePage,
  USER_CODE_MAX,
} from '../pages/device-pages.ts';
import { formTargetsOf } from '../pages/form-targets.ts';
import type { Page } from '../pages/page.ts';
import { hidden } from '../pages/parts/field.ts';
import type { ProviderPages } from '../provider/pages.ts';
import { givenCode, markMissed } from './device-guesses.ts';

/**
 * The pages that oidc-provider asks for in its configuration. It brings its own forms; we take only the token
 * and the address from them.
 */
export const providerPages: ProviderPages = {
  async userCodeInputSource(ctx, _form, out, error) {
    if (error !== undefined && isUnsaved(ctx)) return renderInto(ctx, EXPIRED_DEVICE);
    if (error?.name === 'AbortedError') return renderInto(ctx, deviceAbortedPage);
    if (error?.name === 'NotFoundError') markMissed(ctx.req);
    const problem =
      out === undefined && error === undefined ? undefined : (PROBLEMS[error?.name ?? ''] ?? NO_MORE);
    const page = deviceCodePage({
      action: actionOf(ctx, 'code_verification'),
      token: tokenOf(ctx),
      userCode: codeIn(ctx, error),
      problem,
    });
    renderInto(ctx, problem === undefined ? page : { ...page, status: 422 });
  },
  async userCodeConfirmSource(ctx, _form, client, ...[, shownCode]) {
    const action = actionOf(ctx, 'code_verification');
    renderInto(
      ctx,
      deviceConfirmPage({
        action,
        token: tokenOf(ctx),
        userCode: shownCode,
        shownCode,
        clientName: nameOf(client),
      }),
    );
  },
  async successSource(ctx) {
    renderInto(ctx, deviceDonePage(nameOf(ctx.oidc.client)));
  },

  async logoutSource(ctx) {
    const { client } = ctx.oidc;
    const formTargets = formTargetsOf(client?.postLogoutRedirectUris ?? []);
    const clientName = client && nameOf(client);
    renderInto(
      ctx,
      signOutPage({
        action: actionOf(ctx, 'end_session_confirm'),
        token: tokenOf(ctx),
        clientName,
        formTargets,
      }),
    );
  },

  async postLogoutSuccessSource(ctx) {
    const session = await ctx.oidc.provider.Session.get(ctx);
    renderInto(ctx, signedOutPage(session.accountId === undefined));
  },

  async renderError(ctx, { error, error_description: description }) {
    renderInto(ctx, providerErrorPage({ code: error, description }));
  },
};

const PROBLEMS: Readonly<Record<string, string>> = {
  NoCodeError: 'Enter the code that the device shows.',
  NotFoundError: 'There is no such code. Compare it with the device, and try again.',
  ExpiredError: 'This code has expired. Start again on the device to get a new one.',
  AlreadyUsedError: 'This code has been used. Start again on the device to get a new one.',
};
const NO_MORE = 'This did not work. Enter the code again.';

const EXPIRED_DEVICE: Page = { ...deviceCodeAgainPage, status: 400 };

/**
 * True if a form came from a browser without a session. oidc-provider has just put a new token into the new
 * session, and would throw when it keeps a session that was never saved. A form with that token could not be
 * accepted anyway.
 */
const isUnsaved = ({ oidc: { session } }: KoaContextWithOIDC): boolean => {
  if (session === undefined || session.exp !== undefined) return false;
  Object.assign(session, { touched: false });
  return true;
};

const codeIn = (ctx: KoaContextWithOIDC, error: (Error & { userCode?: unknown }) | undefined): string =>
  typeof error?.userCode === 'string' ? error.userCode.slice(0, USER_CODE_MAX) : givenCode(ctx.req);

/**
 * Replaces oidc-provider's self-submitting forms with a page that has a button, because scripts do not run
 * here. They occur on a sign-out without a session, and when the session of one user ends because another has
 * just signed in.
 */
export const replaceScriptedForms = async (
  ctx: KoaContextWithOIDC,
  next: () => Promise<unknown>,
): Promise<void> => {
  await next();
  const { oidc } = ctx;
  const target = oidc?.session?.state?.secret ? oidc.urlFor('end_session_confirm') : undefined;
  if (
    target === undefined ||
    typeof ctx.body !== 'string' ||
    !ctx.body.includes('<script>') ||
    !ctx.body.includes(target)
  )
    return;
  const form = { action: new URL(target).pathname, token: tokenOf(ctx) };
  if (oidc.route === 'end_session') {
    const formTargets = formTargetsOf(oidc.client?.postLogoutRedirectUris ?? []);
    return renderInto(ctx, goOnPage({ ...form, formTargets, text: 'You are no longer signed in.' }));
  }
  const clientId = oidc.entities.Interaction?.params.client_id;
  const client = typeof clientId === 'string' ? await oidc.provider.Client.find(clientId) : undefined;
  const text =
    'Somebody else was signed in with this browser. They are now signed out, and you are signed in.';
  renderInto(ctx, goOnPage({ ...form, formTargets: formTargetsOf(client?.redirectUris ?? []), text }));
};

const actionOf = (ctx: KoaContextWithOIDC, route: string): string => new URL(ctx.oidc.urlFor(route)).pathname;

const tokenOf = (ctx: KoaContextWithOIDC): string => String(ctx.oidc.session?.state?.secret ?? '');

const nameOf = (client: Client | undefined): string =>
  client?.clientName ?? client?.clientId ?? 'The application';

type SignOutForm = {
  readonly action: string;
  readonly token: string;
  readonly formTargets: readonly string[];
};

const signOutPage = ({
  action,
  token,
  clientName,
  formTargets,
}: SignOutForm & { readonly clientName: string | undefined }): Page => ({
  formTargets,
  title: 'Sign out?',
  main: html`<h1>Sign out?</h1>
<p>${clientName === undefined ? 'You' : html`<strong>${clientName}</strong> asks to sign you out. You`} will have to sign in again in
every application that you opened in this browser with this account.</p>
<form method="post" action="${action}">
${hidden('xsrf', token)}
<div class="actions">
<button class="primary" type="submit" name="logout" value="yes">Sign out</button>
<button type="submit">Stay signed in</button>
</div>
</form>`,
});

/** Replaces a form that oidc-provider would submit by a script. */
const goOnPage = ({ action, token, formTargets, text }: SignOutForm & { readonly text: string }): Page => ({
  formTargets,
  title: 'Continue',
  main: html`<h1>Continue</h1>
<p>${text}</p>
<form method="post" action="${action}">
${hidden('xsrf', token)}
${hidden('logout', 'yes')}
<div class="actions"><button class="primary" type="submit">Continue</button></div>
</form>`,
});

const signedOutPage = (isSignedOut: boolean): Page => {
  const title = isSignedOut ? 'You are signed out' : 'You are still signed in';
  return { title, main: html`<h1>${title}</h1><p>You can close this page.</p>` };
};

/** Explains an invalid request of an application, to its developer and to the user it sent here. */
const providerErrorPage = ({
  code,
  description,
}: {
  readonly code: string;
  readonly description: string | undefined;
}): Page => ({
  title: 'This request cannot be processed',
  main: html`<h1>This request cannot be processed</h1>
<p>${
    code === 'server_error'
      ? 'Something went wrong on our side. Go back to the application and try again.'
      : 'The application that sent you here asked for something that is not possible. Go back to it and try again.'
  }</p>
<h2>For its developer</h2>
<p><code>${code}</code>${description !== undefined && html`<br>${description}`}</p>`,
});
