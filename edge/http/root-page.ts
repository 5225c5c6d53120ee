import { createHash } from 'node:crypto';
import { capital, spaced } from '#kernel/base/names.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type Html, html } from '#shared/html.ts';

export type Link = { readonly rel: string; readonly href: string; readonly title: string };

/** A first destination for people, shown if a link with this `rel` is served here. */
type Door = { readonly rel: string; readonly href: string; readonly title: string; readonly says: string };

const DOORS: readonly Door[] = [
  {
    rel: 'console',
    href: '/console',
    title: 'Sign in to the console',
    says: 'See and change the data and its history. Administrators also see the state of the system.',
  },
  {
    rel: 'docs',
    href: '/docs',
    title: 'Read the documentation',
    says: 'How to read, write and follow changes, with examples to copy.',
  },
  {
    rel: 'docs',
    href: '/docs/rest',
    title: 'Try the API',
    says: 'Every REST request, with a form to send it.',
  },
  {
    rel: 'graphql',
    href: '/graphql',
    title: 'Try GraphQL',
    says: 'Write queries in the browser, and see their results.',
  },
  {
    rel: 'console',
    href: '/account',
    title: 'Your account',
    says: 'Your name, password, passkeys and sessions.',
  },
];

const STYLE = `
:root { color-scheme: light dark; font: 1.0625rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
  --ground: #f3f1ec; --card: #fff; --ink: #1d1b18; --soft: #5b564e; --line: #dcd7cd; --accent: #1f5a4d; }
@media (prefers-color-scheme: dark) { :root { --ground: #171614; --card: #211f1c; --ink: #ece8e1; --soft: #b3ada2; --line: #3a3732; --accent: #8fd0bd; } }
body { max-width: 46rem; margin: 0 auto; padding: 1.5rem 1.25rem 3rem; background: var(--ground); color: var(--ink); overflow-wrap: anywhere; }
.brand { margin: 0 0 1.75rem; font: 600 1.25rem/1.2 Georgia, "DejaVu Serif", serif; letter-spacing: .01em; }
h1 { margin: 0; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 2rem 0 .5rem; font-size: 1.0625rem; }
p { margin: .5rem 0 1.5rem; }
.doors { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 19rem), 1fr)); gap: .75rem; list-style: none; margin: 0; padding: 0; }
.doors a { display: block; height: 100%; box-sizing: border-box; padding: .875rem 1rem; border-radius: .75rem; text-decoration: none; color: inherit;
  background: var(--card); border: 1px solid var(--line); }
.doors a:hover, .doors a:focus-visible { border-color: var(--accent); }
a:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.doors strong { display: block; color: var(--accent); }
.doors span { font-size: .9375rem; color: var(--soft); }
.programs { list-style: none; margin: 0; padding: 0; font-size: .9375rem; }
.programs li { padding: .25rem 0; }
.programs a { display: inline-block; min-height: 1.5rem; color: var(--accent); text-underline-offset: .15em; }
code { font: .9375em ui-monospace, "SFMono-Regular", "DejaVu Sans Mono", monospace; }
small { display: block; margin-top: 2rem; color: var(--soft); }
`;

/** Only this one style may load; nothing may run. */
export const ROOT_PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export type RootPage = {
  readonly version: string;
  readonly domain: Domain;
  readonly links: readonly Link[];
  /** Whether the installation is unused, and has a demo to show. */
  readonly offersDemo: boolean;
};

export const rootPage = ({ version, domain, links, offersDemo }: RootPage): string => {
  const doors = DOORS.filter(({ rel }) => links.some((link) => link.rel === rel));
  const kinds = Object.values(domain.kinds).map(({ plural }) => spaced(plural));
  const content = html`<h1>${capital(domain.name)}</h1>
<p>${capital(kinds.join(', '))}. Annals records every change: who made it and when, the value before it, and a proof that nobody has altered the record.</p>
${doors.length > 0 && html`<ul class="doors">${doors.map(doorOf)}</ul>`}
${
  offersDemo &&
  html`<h2>There is no data yet</h2>
<p>To look around first, stop Annals with Ctrl+C and run <code>npm run demo</code>: it starts another installation, with four weeks of activity.</p>`
}
<h2>For programs</h2>
<ul class="programs">${links.map(linkOf)}</ul>
<small>Annals ${version}</small>`;
  // HTML does not escape the content of a style element.
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${html`${capital(domain.name)} · Annals`}</title>
<style>${STYLE}</style>
<body>
<header><p class="brand">Annals</p></header>
<main>
${content}
</main>
</body>
</html>
`;
};

const doorOf = ({ href, title, says }: Door): Html => html`
<li><a href="${href}"><strong>${title}</strong><span>${says}</span></a></li>`;

const linkOf = ({ href, title }: Link): Html => html`
<li><a href="${href}"><code>${href}</code></a> ${title}</li>`;
