import type { UserId } from '#kernel/base/brands.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { spaced } from '#kernel/base/names.ts';
import { type Html, html } from '#shared/html.ts';
import type { Section } from './section.ts';

type Opening = {
  readonly userId: UserId;
  readonly at: string;
  readonly by: string;
  readonly domain: string;
  readonly leftOut: readonly string[];
};

/** One file without scripts and without anything from elsewhere, for a browser and for paper. */
export async function* htmlPieces(opening: Opening, sections: readonly Section[]): AsyncGenerator<string> {
  yield openingOf(opening, sections);
  for (const { name, title, says, records } of sections) {
    yield html`<section aria-labelledby="${name}">
<h2 id="${name}">${titleOf(title)}</h2>
<p>${says}</p>
`.toString();
    let count = 0;
    for await (const record of records) {
      yield `${count === 0 ? '<ol>\n' : ''}${entryOf(record)}`;
      count += 1;
    }
    yield html`${count === 0 ? html`<p>Nothing.</p>` : END_OF_LIST}
</section>
`.toString();
  }
  yield html`<p id="end"><strong>This export is complete.</strong></p>
</main>
</body>
</html>
`.toString();
}

const END_OF_LIST = html`</ol>`;

const openingOf = ({ userId, at, by, domain, leftOut }: Opening, sections: readonly Section[]): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Data about user ${userId}</title>
<style>${STYLE_MARK}</style>
</head>
<body>
<main>
<h1>Data about user ${userId}</h1>
<p>From ${domain}, at <time datetime="${at}">${at}</time>, for ${by}. <a href="#end">Is it complete?</a></p>
<ul>
${leftOut.map((text) => html`<li>${text}</li>\n`)}</ul>
<nav aria-label="Sections"><ul>
${sections.map(({ name, title }) => html`<li><a href="#${name}">${titleOf(title)}</a></li>\n`)}</ul></nav>
`
    .toString()
    .replace(STYLE_MARK, () => STYLE);

const titleOf = (title: string): string => title.charAt(0).toUpperCase() + title.slice(1);

const entryOf = (record: JsonObject): string =>
  html`<li><dl>
${Object.entries(record).map(([name, value]) => html`<div><dt>${titleOf(spaced(name))}</dt><dd>${shownValue(value)}</dd></div>\n`)}</dl></li>
`.toString();

const shownValue = (value: unknown): Html | string => {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object' || each === null))
    return value.length === 0 ? '–' : value.map(String).join(', ');
  if (typeof value !== 'object') return String(value);
  return html`<code>${JSON.stringify(value)}</code>`;
};

const STYLE_MARK = '/*style*/';

/** The browser’s colours, light and dark; no line is wider than a phone. */
const STYLE = `
:root { color-scheme: light dark; }
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 50rem; margin: 0 auto; padding: 1rem; }
a { color: inherit; }
h1, h2, p, li, dd { overflow-wrap: anywhere; }
ol { padding: 0; list-style: none; }
ol > li { border: 1px solid; border-radius: .5rem; margin: 0 0 1rem; padding: .5rem 1rem; break-inside: avoid; }
dl { margin: 0; }
dl > div { display: grid; grid-template-columns: 10rem 1fr; gap: 0 1rem; padding: .125rem 0; }
dt { font-weight: 600; overflow-wrap: anywhere; }
dd { margin: 0; min-width: 0; white-space: pre-wrap; }
@media (max-width: 34rem) { dl > div { grid-template-columns: 1fr; padding: .25rem 0; } }
`;
