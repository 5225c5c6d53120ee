import { type Html, html } from '#shared/html.ts';
import { PATHS } from './account/account-page.ts';
import type { Page } from './page.ts';
import { hidden } from './parts/field.ts';
import type { WordedScope } from './scope-words.ts';

type ConsentView = {
  readonly action: string;
  readonly token: string;
  readonly clientName: string;
  readonly scopes: readonly WordedScope[];
  /** The origin that the browser returns to; undefined for a device, which polls. */
  readonly destination: string | undefined;
  /** The signed-in person's name, if they have given one. */
  readonly userName: string | undefined;
  readonly isAdmin: boolean;
  /** Nobody vouches for its name. */
  readonly isSelfRegistered: boolean;
  /** Of the document that describes it. */
  readonly address: string | undefined;
  readonly signOutUrl: string;
  readonly formTargets: readonly string[];
};

export const consentPage = ({
  clientName,
  scopes,
  destination,
  userName,
  isAdmin,
  isSelfRegistered,
  address,
  ...view
}: ConsentView): Page => ({
  formTargets: view.formTargets,
  title: `Allow ${clientName}?`,
  main: html`<h1>Allow ${clientName} to use your account?</h1>
${
  scopes.length === 0
    ? html`<p>It only asks to know who you are.</p>`
    : html`<p>It asks to:</p>
<ul class="scopes">${scopes.map(scopeItem)}</ul>`
}
${isAdmin && html`<p><strong>You are an administrator:</strong> it may do this to the data of all users.</p>`}
${isSelfRegistered && html`<p>${originOf(address)}</p>`}
<p class="lead">Allow this only if you trust ${clientName}.${
    destination !== undefined && html` You will be sent to <strong>${destination}</strong>.`
  }</p>
<form method="post" action="${view.action}">
${hidden('token', view.token)}
<div class="actions">
<button class="primary" type="submit" name="decision" value="allow">Allow</button>
<button type="submit" name="decision" value="deny">Do not allow</button>
</div>
</form>
<p>${userName === undefined ? 'You are signed in.' : html`You are signed in as <strong>${userName}</strong>.`} Not you? <a href="${view.signOutUrl}">Sign out</a></p>`,
});

const originOf = (address: string | undefined): Html =>
  address === undefined
    ? html`<strong>It registered itself.</strong> Nobody here has checked who is behind its name.`
    : html`Its address: <strong><bdi>${address}</bdi></strong>. Nobody here has checked who is behind this address.`;

/** Shown instead of the prompt while the account's address is unconfirmed. */
export const consentRefusedPage = ({
  action,
  token,
  clientName,
  formTargets,
}: Pick<ConsentView, 'action' | 'token' | 'clientName' | 'formTargets'>): Page => ({
  status: 403,
  formTargets,
  title: 'Confirm your address first',
  main: html`<h1>Confirm your address first</h1>
<p class="lead">The e-mail address of this account is not confirmed as yours yet. Until it is, ${clientName} cannot use the account.</p>
<p><a href="${PATHS.confirmation}" target="_blank">Confirm your address</a>, and then <a href="${action}">continue</a>.</p>
<form method="post" action="${action}">
${hidden('token', token)}
<div class="actions"><button type="submit" name="decision" value="deny">Do not allow</button></div>
</form>`,
});

const scopeItem = ({ scope, words }: WordedScope): Html =>
  html`<li>${words ?? scope}${words !== undefined && html`<small>${scope}</small>`}</li>`;
