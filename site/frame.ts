import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type Html, html } from '#shared/html.ts';
import type { Assets } from './assets.ts';
import { type Content, type DocsPage, type Group, hrefFrom, type Section } from './page/page.ts';
import { INDEX_PATH } from './search/index.ts';

export const START_PATH = '/docs';

type Site = { readonly domain: Domain; readonly groups: readonly Group[]; readonly assets: Assets };

/**
 * The whole document. Every page has the same navigation: at its side if there is room, otherwise folded up.
 */
export const documentOf = (page: DocsPage, content: Content, { domain, groups, assets }: Site): string => {
  const href = (to: string): string => hrefFrom(page.path, to);
  const menu = menuOf(page, content.sections, groups);
  const text = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.path === START_PATH ? 'Annals: documentation' : `${page.title} · Annals`}</title>
<link rel="icon" href="data:,">
${['docs.css', ...(page.styles ?? [])].map((name) => html`<link rel="stylesheet" href="${href(assets.named(name).path)}">`)}
${(page.early ?? []).map((name) => html`<script type="module" async blocking="render" src="${href(assets.named(name).path)}"></script>`)}
${['navigation.js', 'search.js', 'copy.js', ...(page.scripts ?? [])].map((name) => html`<script type="module" src="${href(assets.named(name).path)}"></script>`)}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<p class="brand"><a href="${href(START_PATH)}">Annals <span>docs</span></a></p>
${searchField(href, assets)}
<p class="elsewhere">${serves(domain, 'console') && html`<a href="${href('/console')}">Console</a> `}${serves(domain, 'graphql') && html`<a href="${href('/graphql')}">GraphiQL</a> `}<a href="${href('/openapi.json')}">openapi.json</a></p>
</header>
<details class="menu"><summary>Pages</summary><nav aria-label="Pages">${menu}</nav></details>
<div class="columns">
<nav class="side" aria-label="Pages">${menu}</nav>
<main id="content" tabindex="-1">
${content.body}
</main>
</div>
</body>
</html>
`;
  return text.toString();
};

/** Only if scripts run. */
const searchField = (
  href: (to: string) => string,
  assets: Assets,
): Html => html`<search class="site-search" data-root="${href('/')}" data-index="${href(INDEX_PATH)}"
data-library="${href(assets.named('minisearch.js').path)}">
<label for="site-search">Search</label>
<input id="site-search" type="search" autocomplete="off" spellcheck="false" placeholder="Search (press /)">
<p role="status"></p>
<ol hidden></ol>
</search>`;

const menuOf = (shown: DocsPage, sections: readonly Section[], groups: readonly Group[]): Html =>
  html`${groups.map(
    ({ title, pages }) => html`<p>${title}</p>
<ul>
${pages.map((page) => html`<li>${entryOf(page, shown)}${page === shown && sectionsOf(sections)}</li>\n`)}</ul>
`,
  )}`;

const entryOf = ({ path, title }: DocsPage, shown: DocsPage): Html =>
  path === shown.path
    ? html`<a href="${hrefFrom(path, path)}" aria-current="page">${title}</a>`
    : html`<a href="${hrefFrom(shown.path, path)}">${title}</a>`;

const sectionsOf = (sections: readonly Section[]): Html | false =>
  sections.length > 1 &&
  html`<ul>${sections.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>`;
