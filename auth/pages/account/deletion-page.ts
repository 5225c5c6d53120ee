import { capital, spaced } from '#kernel/base/names.ts';
import { isUser } from '#kernel/base/users.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { endingWith, erasedIn, stayingWithout } from '#shared/erasure/references.ts';
import { html } from '#shared/html.ts';
import type { ErasureReport } from '#shared/rest/erasure.ts';
import type { Page } from '../page.ts';
import { field, hasProblems, hidden, type Problems, summaryOf, titleOf } from '../parts/field.ts';
import { PASSWORD_NOTE, passwordField } from '../parts/person-fields.ts';
import { momentOf } from '../parts/time.ts';
import { type AccountView, accountPage, PATHS } from './account-page.ts';

export type DeletionView = AccountView & {
  readonly domain: Domain;
  readonly problems: Problems<'confirmation' | 'password'>;
  readonly confirmation: string;
  /** Without one, the sign-in has been just now. */
  readonly hasPassword: boolean;
};

/** Must be typed, so that nobody deletes their account by accident. */
export const CONFIRMATION = 'delete my account';

const CONFIRMATION_MAX = 50;

export const deletionPage = ({
  domain,
  problems,
  confirmation,
  hasPassword,
  ...view
}: DeletionView): Page => {
  const staying = stayingWithout(domain).map(({ says }) => says);
  const ending = [
    ...endingWith(domain).map(({ says }) => `your ${says}`),
    ...(serves(domain, 'webhooks') ? ['your webhooks'] : []),
  ];
  return accountPage(view, {
    section: PATHS.home,
    ...(hasPassword && { note: PASSWORD_NOTE }),
    title: titleOf('Delete the account', problems),
    main: html`${summaryOf(problems)}
<h1>Delete the account</h1>
<p><strong>This cannot be undone.</strong> Immediately:</p>
<ul>
<li>${listed(erasedOf(domain))} are erased, in the history too: the key that decrypts them is destroyed;</li>
${ending.length > 0 && html`<li>${listed(ending)} are deleted;</li>\n`}<li>your sessions, your access tokens and the access of applications end.</li>
</ul>
${staying.length > 0 && html`<p>Your ${listed(staying)} stay, and show “Deleted user”. First delete or withdraw those that must not stay.</p>`}
<form method="post" action="${PATHS.deletion}" novalidate>
${hidden('token', view.token)}
${field({
  name: 'confirmation',
  label: `Type “${CONFIRMATION}”`,
  type: 'text',
  autocomplete: 'off',
  value: confirmation,
  problem: problems.confirmation,
  maxLength: CONFIRMATION_MAX,
  hasFocus: !hasProblems(problems),
})}
${hasPassword ? passwordField({ problem: problems.password }) : hidden('password', '')}
<div class="actions"><button class="danger" type="submit">Delete the account permanently</button></div>
</form>
<p><a href="${PATHS.home}">Keep the account</a></p>`,
  });
};

const erasedOf = (domain: Domain): readonly string[] =>
  erasedIn(domain).flatMap(({ kind, fields }) =>
    isUser(kind)
      ? fields.map((field) => `your ${field === 'email' ? 'e-mail address' : spaced(field)}`)
      : [`the ${listed(fields.map(spaced))} of your ${spaced(kind.plural)}`],
  );

const listed = (names: readonly string[]): string =>
  [names.slice(0, -1).join(', '), ...names.slice(-1)].filter(Boolean).join(' and ');

/** Shown instead of the form: without an administrator nobody could invite people or moderate content. */
export const lastAdministratorPage = (view: AccountView): Page =>
  accountPage(view, {
    section: PATHS.home,
    title: 'You are the only administrator',
    main: html`<h1>You are the only administrator</h1>
<p>Your account cannot be deleted while there is no other administrator. Make another person an administrator first:
<a href="${PATHS.invitations}">invite them</a> with that role. Come back once they have an account.</p>
<p><a href="${PATHS.home}">Back to your account</a></p>`,
  });

type ErasedView = { readonly domain: Domain; readonly report: ErasureReport; readonly receiptUrl: string };

/** The report of an erasure, to keep; it contains nothing personal. */
export const erasedPage = ({ domain, report, receiptUrl }: ErasedView): Page => {
  const { userId, isDone, asked, keyDestroyedAt, sealed, followed, parts, kept } = report;
  const staying = stayingWithout(domain)
    .map(({ name, says }) => `${capital(says)}: ${kept[name] ?? 0}.`)
    .join(' ');
  const title = isDone ? 'Your account is deleted' : 'Your account is being deleted';
  return {
    title,
    isWide: true,
    main: html`<h1>${title}</h1>
${
  isDone
    ? html`<p class="done" role="status">None of your data is left in the places that were searched.</p>`
    : html`<p class="done" role="status">The rest is deleted within moments. <a href="${receiptUrl}">Check again</a></p>`
}
<dl>
<dt>Account number</dt><dd>${userId}</dd>
<dt>Deleted</dt><dd>${asked === null ? 'Not in the log yet' : momentOf(new Date(asked.at))}</dd>
<dt>Key destroyed</dt><dd>${keyDestroyedAt === null ? 'Not yet' : momentOf(new Date(keyDestroyedAt))}</dd>
</dl>
<table><caption>Places where your data could be</caption>
<thead><tr><th scope="col">Place</th><th scope="col">Left</th></tr></thead>
<tbody>
${parts.map(({ part, left }) => html`<tr><td>${part}</td><td>${left === 0 ? 'nothing' : left}</td></tr>\n`)}</tbody></table>
<h2>In the log</h2>
<p>Events are never removed. Events with your data, which nobody can decrypt any more: ${total(sealed)}.
Deletions that followed from yours: ${total(followed)}.</p>
<h2>What stays</h2>
<p>${staying === '' ? 'Nothing.' : staying}</p>
<h2>Your receipt</h2>
<p>This address shows the page again at any time, to everybody who has the address. Print the page, or keep the address.</p>
<p class="link-shown">${receiptUrl}</p>`,
  };
};

const total = (counts: ErasureReport['sealed']): number =>
  counts.reduce((sum, { events }) => sum + events, 0);
