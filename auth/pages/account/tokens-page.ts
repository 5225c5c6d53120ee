import { type Html, html } from '#shared/html.ts';
import type { Page } from '../page.ts';
import { choices, field, hidden, type Problems, severalOf, summaryOf, titleOf } from '../parts/field.ts';
import { NAME_MAX } from '../parts/person-fields.ts';
import { momentOf } from '../parts/time.ts';
import type { WordedScope } from '../scope-words.ts';
import { type AccountView, accountPage, PATHS } from './account-page.ts';
import { confirmFirst } from './confirmation-page.ts';

type ShownToken = {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly WordedScope[];
  readonly madeAt: Date;
  readonly expiresAt: Date;
  readonly usedAt: Date | null;
  readonly isOver: boolean;
};

/** In days, as the form offers them. */
export const LIFETIMES = { 7: 'A week', 30: '30 days', 90: '90 days', 365: 'A year' } as const;
export type Lifetime = `${keyof typeof LIFETIMES}`;

export type TokensView = AccountView & {
  readonly tokens: readonly ShownToken[];
  readonly offered: readonly WordedScope[];
  readonly name: string;
  readonly chosen: readonly string[];
  readonly lifetime: Lifetime;
  readonly problems: Problems<'name' | 'scopes'>;
  /** A token needs a confirmed address. */
  readonly isUnconfirmed: boolean;
  /** Made just now, and not shown again. */
  readonly made?: { readonly name: string; readonly secret: string; readonly scriptUrl: string } | undefined;
};

export const tokensPage = ({ tokens, made, problems, isUnconfirmed, ...view }: TokensView): Page =>
  accountPage(view, {
    section: PATHS.tokens,
    title: titleOf('Access tokens', problems),
    scriptUrl: made?.scriptUrl,
    main: html`${summaryOf(problems)}
<h1>Access tokens</h1>
${made !== undefined && madeBox(made)}
<p class="lead">A personal access token lets a script act for you, without a sign-in. It allows what you choose here, and never more than your role does.</p>
${tokens.length > 0 && html`<ul class="items">${tokens.map((each) => itemOf(each, view.token))}</ul>`}
<h2>Create a token</h2>
${isUnconfirmed ? confirmFirst('Then you can create tokens.') : formOf({ ...view, problems })}`,
  });

const madeBox = ({
  name,
  secret,
}: NonNullable<TokensView['made']>): Html => html`<div class="done" role="status">
<p>“${name}” was created. Copy the token now: it is not shown again.</p>
<p class="link-shown" id="new-token">${secret}</p>
<p><button class="small" type="button" data-copy="new-token" hidden>Copy the token</button></p>
<p class="small">Send it as <code>Authorization: Bearer …</code>. Everyone who has it can act for you: protect it like a password.</p>
</div>`;

const formOf = ({
  token,
  name,
  problems,
  offered,
  chosen,
  lifetime,
}: Omit<TokensView, 'tokens' | 'made' | 'isUnconfirmed'>): Html =>
  html`<form method="post" action="${PATHS.tokens}" novalidate>
${hidden('token', token)}
${field({
  name: 'name',
  label: 'Name',
  hint: 'What it is for, such as “Nightly import”.',
  type: 'text',
  autocomplete: 'off',
  maxLength: NAME_MAX,
  value: name,
  problem: problems.name,
})}
${severalOf({
  name: 'scopes',
  legend: 'What it allows',
  options: offered.map(({ scope, words }) => ({ value: scope, label: words ?? scope, note: words && scope })),
  chosen,
  problem: problems.scopes,
})}
${choices({ name: 'lifetime', legend: 'Expires after', options: Object.entries(LIFETIMES), chosen: lifetime })}
<div class="actions"><button class="primary" type="submit" name="do" value="create">Create the token</button></div>
</form>`;

const itemOf = (
  { id, name, scopes, madeAt, expiresAt, usedAt, isOver }: ShownToken,
  token: string,
): Html => html`<li><div>
<h2>${name}</h2>
<p class="small">${isOver ? html`<strong>Expired</strong> on` : 'Expires on'} ${momentOf(expiresAt)}</p>
<p class="small">Created on ${momentOf(madeAt)}, ${usedAt === null ? 'not used yet' : html`last used on ${momentOf(usedAt)}`}</p>
<ul class="scopes">${scopes.map(({ scope, words }) => html`<li>${words ?? scope}</li>`)}</ul></div>
<form method="post" action="${PATHS.tokens}">
${hidden('token', token)}${hidden('id', id)}
<button type="submit" name="do" value="revoke" aria-label="${isOver ? 'Remove' : 'Revoke'} the token ${name}">${isOver ? 'Remove' : 'Revoke'}</button>
</form></li>`;
