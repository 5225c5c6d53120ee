import { exampleKind } from '#kernel/registry/example-kind.ts';
import { serves } from '#kernel/registry/parts.ts';
import { type Html, html } from '#shared/html.ts';
import { conventionsOf, type OpenApiOptions } from '../../query/openapi/document.ts';
import type { Assets } from '../assets.ts';
import { type Description, describeRest } from '../calls/description.ts';
import { commandBlock } from '../code/block.ts';
import { formOf, isNamed, schemaId } from '../fields/form.ts';
import { fieldsOf, fieldTable } from '../fields/table.ts';
import { guidePath } from '../guides/links.ts';
import { renderLine, renderMarkdown } from '../guides/markdown.ts';
import { filterField } from '../page/filter.ts';
import { type Content, type DocsPage, hrefFrom } from '../page/page.ts';
import type { ShownGraphql } from '../shown-graphql.ts';
import { exampleOf, headerId, operationEntry, type Shown, tagId } from './operation.ts';

export const REST_PATH = '/docs/rest';
export const REDIRECT_PATH = '/docs/oauth2-redirect.html';

/** The reference, readable as it loads. The code to try an operation is loaded on demand. */
export const restPage = (
  assets: Assets,
  options: OpenApiOptions,
  graphql: ShownGraphql | undefined,
): DocsPage => ({
  path: REST_PATH,
  title: 'REST',
  styles: ['rest.css'],
  early: ['chosen.js'],
  scripts: ['filter.js', 'tabs.js', 'try.js'],
  content: () => restContent(assets, options, graphql),
});

const restContent = (assets: Assets, options: OpenApiOptions, graphql: ShownGraphql | undefined): Content => {
  const description = describeRest(options);
  const { origin } = new URL(options.publicUrl);
  const shown = { domain: options.domain, description, graphql, origin };
  return {
    body: html`${introductionOf(options)}
${filterField('Find an operation')}
<div id="operations" data-script="${addressOf(assets, 'swagger-ui.js')}" data-style="${addressOf(assets, 'swagger-ui.css')}">
${description.tags.map(({ name, description: text }) => tagChapter(name, text, shown))}</div>
<h2 id="schemas">Schemas</h2>
${Object.keys(description.schemas)
  .filter(isNamed)
  .map((name) => schemaEntry(name, description))}
<h2 id="headers">Response headers</h2>
${headerTable(description)}`,
    sections: [
      ...description.tags.map(({ name }) => ({ id: tagId(name), title: name })),
      { id: 'schemas', title: 'Schemas' },
      { id: 'headers', title: 'Response headers' },
    ],
  };
};

const addressOf = (assets: Assets, name: string): string => hrefFrom(REST_PATH, assets.named(name).path);

const introductionOf = (options: OpenApiOptions): Html => html`<h1>REST</h1>
<p>Every REST operation, with a form to try it. <a href="${hrefFrom(REST_PATH, guidePath('rest'))}">A guide</a> explains the conventions; programs read
<a href="${hrefFrom(REST_PATH, '/openapi.json')}">openapi.json</a>.</p>
<details><summary>Conventions of all operations</summary>
${renderMarkdown(conventionsOf(options.domain), { resolve: () => undefined }).body}
</details>
${serves(options.domain, 'accounts') && withToken(options)}
<noscript><p>Trying an operation needs JavaScript.</p></noscript>`;

/** Commands get a token of this installation. */
const withToken = (
  options: OpenApiOptions,
): Html => html`<details><summary>Try operations with a token</summary>
<p>Open an operation, press <b>Try it</b>, then <b>Authorize</b>, and paste the token under <b>bearer</b>: all operations use it until you leave the page.
In development <code>npm run -s token</code> prints a token that is valid for five minutes. To sign in there instead, register a client for
this page once:</p>
${commandBlock(registrationOf(options))}
</details>`;

const registrationOf = ({ domain, publicUrl }: OpenApiOptions): string => {
  const { path } = exampleKind(domain);
  return `npm run annals -- client create Reference --id reference --auth none \\
  --redirect-uri ${new URL(REDIRECT_PATH, publicUrl).href} --scope 'read:${path} write:${path}'`;
};

const tagChapter = (
  name: string,
  text: string,
  shown: Shown,
): Html => html`<h2 id="${tagId(name)}">${name}</h2>
<p>${renderLine(text)}</p>
${shown.description.operations.filter(({ tags }) => tags.includes(name)).map((operation) => operationEntry(operation, shown))}`;

const schemaEntry = (name: string, { schemas }: Description): Html => {
  const schema = schemas[name] ?? {};
  const fields = fieldsOf(schema);
  const names = [name, ...fields.map((field) => field.name)].join(' ').toLowerCase();
  const example = exampleOf(schema);
  return html`<section class="entry" data-name="${names}">
<h3 id="${schemaId(name)}"><code>${name}</code> <a class="anchor" href="#${schemaId(name)}" aria-label="Link to ${name}">#</a></h3>
${typeof schema.description === 'string' && html`<p>${renderLine(schema.description)}</p>`}
${fields.length > 0 ? fieldTable(html`Field`, fields) : html`<p>${formOf(schema)}</p>`}
${example && html`<details><summary>Example</summary>${example}</details>`}
</section>
`;
};

const headerTable = ({ headers }: Description): Html =>
  fieldTable(
    html`Header`,
    Object.entries(headers).map(([name, { description, schema }]) => ({
      id: headerId(name),
      name,
      form: renderLine(description),
      description: exampleLine(schema.examples),
    })),
  );

const exampleLine = (examples: unknown): string => (Array.isArray(examples) ? `\`${examples[0]}\`` : '');

/** The authorization server redirects the window for signing in to this page. */
export const redirectPage = (assets: Assets): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Signing in</title>
<body>
<script src="${hrefFrom(REDIRECT_PATH, assets.named('oauth2-redirect.js').path)}"></script>
</body>
</html>
`;
