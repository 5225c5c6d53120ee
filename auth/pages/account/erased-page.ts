import { capital } from '#kernel/registry/names.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { stayingWithout } from '#shared/erasure/references.ts';
import { html } from '#shared/html.ts';
import type { ErasureReport } from '#shared/rest/erasure.ts';
import type { Page } from '../page.ts';
import { momentOf } from '../time.ts';

type ErasedView = { readonly domain: Domain; readonly report: ErasureReport; readonly receiptUrl: string };

/** What was erased of somebody, for them to keep; it holds nothing personal. */
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
    ? html`<p class="done" role="status">Nothing of you is left in what was looked through.</p>`
    : html`<p class="done" role="status">What is left goes within moments. <a href="${receiptUrl}">Look again</a></p>`
}
<dl>
<dt>Number of the account</dt><dd>${userId}</dd>
<dt>Deleted</dt><dd>${asked === null ? 'Not in the log yet' : momentOf(new Date(asked.at))}</dd>
<dt>Key destroyed</dt><dd>${keyDestroyedAt === null ? 'Not yet' : momentOf(new Date(keyDestroyedAt))}</dd>
</dl>
<table><caption>Where something of you could be</caption>
<thead><tr><th scope="col">Where</th><th scope="col">What is left</th></tr></thead>
<tbody>
${parts.map(({ part, left }) => html`<tr><td>${part}</td><td>${left === 0 ? 'nothing' : left}</td></tr>\n`)}</tbody></table>
<h2>In the log</h2>
<p>Events are never removed. Of those that hold something of yours, which nobody can open any more, there are ${total(sealed)};
of deletions that follow from yours, ${total(followed)}.</p>
<h2>What stays without you</h2>
<p>${staying === '' ? 'Nothing.' : staying}</p>
<h2>Your receipt</h2>
<p>This address shows the page again, at any time; only who has it can see it. Print the page, or keep the address.</p>
<p class="link-shown">${receiptUrl}</p>`,
  };
};

const total = (counts: ErasureReport['sealed']): number => counts.reduce((sum, { events }) => sum + events, 0);
