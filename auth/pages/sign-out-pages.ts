import { html } from '#shared/html.ts';
import { hidden } from './field.ts';
import type { Page } from './page.ts';

type SignOutForm = { readonly action: string; readonly token: string; readonly formTargets: readonly string[] };

export const signOutPage = ({
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

/** Where oidc-provider would send a form by a script. */
export const goOnPage = ({ action, token, formTargets, text }: SignOutForm & { readonly text: string }): Page => ({
  formTargets,
  title: 'Go on',
  main: html`<h1>Go on</h1>
<p>${text}</p>
<form method="post" action="${action}">
${hidden('xsrf', token)}
${hidden('logout', 'yes')}
<div class="actions"><button class="primary" type="submit">Continue</button></div>
</form>`,
});

export const signedOutPage = (isSignedOut: boolean): Page => {
  const title = isSignedOut ? 'You are signed out' : 'You stay signed in';
  return { title, main: html`<h1>${title}</h1><p>You can close this page.</p>` };
};
