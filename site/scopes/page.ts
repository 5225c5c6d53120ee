import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type Html, html } from '#shared/html.ts';
import { policyOf, scopeOf } from '#shared/policy.ts';
import { operationsOf } from '#shared/rest/operations.ts';
import { scopeWordsOf } from '#shared/scope-words.ts';
import { allowsAnonymous } from '../../query/openapi/security.ts';
import { guidePath } from '../guides/links.ts';
import { type Content, type DocsPage, hrefFrom } from '../page/page.ts';

const PATH = '/docs/scopes';

/** Every scope of the domain: what it allows, and its text on the consent page. */
export const scopesPage = (domain: Domain): DocsPage => ({
  path: PATH,
  title: 'Scopes',
  content: () => readContent(domain),
});

type Needed = { readonly name: string; readonly isPublic: boolean };

const readContent = (domain: Domain): Content => {
  const needed = operationsByScope(domain);
  const scopes = [...scopeWordsOf(domain)];
  return {
    body: html`<h1>Scopes</h1>
<p>A token can do what its scopes <em>and</em> the role of its user allow: a scope never adds a right that the user lacks. Request the scopes that your application needs, separated by spaces,
in <code>scope</code> (<a href="${hrefFrom(PATH, guidePath('accounts'))}">accounts</a>). A request whose token lacks a scope fails with
<a href="${hrefFrom(PATH, '/docs/errors')}#insufficient_scope"><code>insufficient_scope</code></a>, which names it.${
      serves(domain, 'graphql') &&
      html` For <a href="${hrefFrom(PATH, '/docs/graphql')}">GraphQL</a>, each field lists its scopes.`
    }</p>
<p>OpenID Connect adds <code>openid</code>, <code>profile</code> and <code>email</code>; <code>offline_access</code> gives a refresh token.</p>
${scopes.map(([scope, { described, asked }]) => entryOf({ scope, described, asked, needed: needed.get(scope) ?? [] }))}`,
    sections: scopes.map(([scope]) => ({ id: scope, title: scope })),
  };
};

type Entry = {
  readonly scope: string;
  readonly described: string;
  readonly asked: string;
  readonly needed: readonly Needed[];
};

const entryOf = ({ scope, described, asked, needed }: Entry): Html => html`<section class="entry">
<h2 id="${scope}"><code>${scope}</code> <a class="anchor" href="#${scope}" aria-label="Link to ${scope}">#</a></h2>
<dl>
<div><dt>Allows</dt><dd>${described}</dd></div>
<div><dt>Consent</dt><dd>“${asked}”</dd></div>
<div><dt>REST</dt><dd>${needed.length === 0 ? 'nothing' : needed.map(({ name, isPublic }, index) => html`${index > 0 && ', '}<code>${name}</code>${isPublic && ' (public data needs no token)'}`)}</dd></div>
</dl>
</section>
`;

const operationsByScope = (domain: Domain): ReadonlyMap<string, readonly Needed[]> => {
  const policy = policyOf(domain);
  const all = Object.values(operationsOf(domain)).flatMap(({ right, method, path }) =>
    right === null
      ? []
      : [
          {
            scope: scopeOf(policy, right),
            name: `${method} ${path}`,
            isPublic: allowsAnonymous(policy, right),
          },
        ],
  );
  return Map.groupBy(all, ({ scope }) => scope);
};
