import { html } from '#shared/html.ts';
import type { Page } from '../page.ts';
import { hidden } from '../parts/field.ts';
import { type AccountView, accountPage, PATHS } from './account-page.ts';

/** With fewer, the page recommends new ones. */
export const CODES_FEW = 3;

export const renewRecoveryCodesPage = ({
  codesLeft,
  ...view
}: AccountView & { readonly codesLeft: number }): Page =>
  accountPage(view, {
    section: PATHS.security,
    title: 'Recovery codes',
    main: html`<h1>Recovery codes</h1>
<p>You have ${codesLeft} left. Each signs you in once, in place of a code from your app.</p>
<p>If you create new ones, the old ones stop working.</p>
<form method="post" action="${PATHS.recoveryCodes}">
${hidden('token', view.token)}
<div class="actions"><button class="primary" type="submit">Create ten new codes</button></div>
</form>
<p><a href="${PATHS.security}">Keep the current codes</a></p>`,
  });

/** The codes are shown only this once. */
export const newRecoveryCodesPage = ({
  codes,
  ...view
}: AccountView & { readonly codes: readonly string[] }): Page =>
  accountPage(view, {
    section: PATHS.security,
    title: 'Your recovery codes',
    main: html`<h1>Your recovery codes</h1>
<p><strong>Save them now: they are not shown again.</strong> Print this page, or store them where you keep passwords. Each signs you in once if
you do not have your app.</p>
<ul class="codes">${codes.map((code) => html`<li>${code}</li>\n`)}</ul>
<p><a href="${PATHS.security}">I have saved them</a></p>`,
  });
