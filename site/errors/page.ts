import { ERRORS_PATH } from '#edge/http/answer-errors.ts';
import { STATUS_CODES } from '#edge/http/node-http.ts';
import { describeProblem, type ProblemCode } from '#edge/http/problem.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type Html, html } from '#shared/html.ts';
import { problemCodesOf } from '../../query/openapi/problem-codes.ts';
import { titleOf } from '../../query/openapi/titles.ts';
import { guidePath } from '../guides/links.ts';
import { renderLine } from '../guides/markdown.ts';
import { filterField } from '../page/filter.ts';
import { type Content, type DocsPage, hrefFrom } from '../page/page.ts';
import { remedyFor } from './remedies.ts';

/** Every code with its cause and remedy. Responses link to it. */
export const errorsPage = (domain: Domain): DocsPage => ({
  path: ERRORS_PATH,
  title: 'Errors',
  scripts: ['filter.js'],
  content: () => readContent(domain),
});

const readContent = (domain: Domain): Content => {
  const byStatus = Map.groupBy(
    problemCodesOf(domain).toSorted(
      (one, other) => describeProblem(one).status - describeProblem(other).status || one.localeCompare(other),
    ),
    (code) => describeProblem(code).status,
  );
  return {
    body: html`<h1>Errors</h1>
<p>Every REST error is <code>application/problem+json</code> (<a href="https://www.rfc-editor.org/rfc/rfc9457">RFC 9457</a>) with a stable <code>code</code>, and the
<code>requestId</code> that the logs have. Its <code>Link</code> header points to the entry of the code on this page. GraphQL has the same codes in <code>extensions.code</code>.
Programs should compare <code>code</code>; <a href="${hrefFrom(ERRORS_PATH, guidePath('client'))}">the typed client</a> throws it as a typed error.</p>
${filterField('Find a code')}
${[...byStatus].map(([status, codes]) => html`<h2 id="status-${status}">${status} ${STATUS_CODES[status]}</h2>\n${codes.map((code) => entryOf(domain, code))}`)}`,
    sections: [...byStatus.keys()].map((status) => ({
      id: `status-${status}`,
      title: `${status} ${STATUS_CODES[status]}`,
    })),
  };
};

const entryOf = (domain: Domain, code: ProblemCode): Html => {
  const { cause, remedy } = remedyFor(code);
  return html`<section class="entry" data-name="${code}">
<h3 id="${code}"><code>${code}</code> <a class="anchor" href="#${code}" aria-label="Link to ${code}">#</a></h3>
<p>${titleOf(domain, code)}</p>
<dl>
<div><dt>Cause</dt><dd>${renderLine(cause)}</dd></div>
<div><dt>Remedy</dt><dd>${renderLine(remedy)}</dd></div>
</dl>
</section>
`;
};
