import { exampleKind } from '#kernel/registry/example-kind.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type Html, html } from '#shared/html.ts';
import { operationsOf } from '#shared/rest/operations.ts';
import type { OpenApiOptions } from '../../query/openapi/document.ts';
import { callsOf } from '../calls/calls.ts';
import { describeRest, type Operation } from '../calls/description.ts';
import { useOf } from '../calls/use.ts';
import { guidePath } from '../guides/links.ts';
import { type Content, type DocsPage, hrefFrom } from '../page/page.ts';

export const PLAYGROUND_PATH = '/docs/playground';
export const FRAME_PATH = `${PLAYGROUND_PATH}/frame`;

/** `/docs/playground`: lines of the typed client, which run against this installation. */
export const playgroundPage = (options: OpenApiOptions): DocsPage => ({
  path: PLAYGROUND_PATH,
  title: 'Playground',
  styles: ['playground.css'],
  content: async () => {
    const { readModules } = await import('./modules.ts');
    return contentOf(options, hrefFrom(PLAYGROUND_PATH, readModules().named('playground.js').path));
  },
});

const contentOf = (options: OpenApiOptions, script: string): Content => {
  const { domain, issuerUrl } = options;
  const href = (to: string): string => hrefFrom(PLAYGROUND_PATH, to);
  const signsIn = serves(domain, 'accounts');
  return {
    sections: [],
    body: html`<h1>Playground</h1>
<p>Write lines of <a href="${href(guidePath('client'))}">the typed client</a>, and run them against this installation. <code>show(value)</code> prints a value. The lines can do what you may do: writes are real.</p>
<form id="playground" data-frame="${href(FRAME_PATH)}" data-root="${href('/')}" data-path="${href(PLAYGROUND_PATH)}"${signsIn && html` data-issuer="${issuerUrl}"`}>
${signsIn && signInField()}
<div><label for="example">Example</label>
<select id="example">
${examplesOf(options).map(({ title, code }) => html`<option value="${code}">${title}</option>\n`)}</select></div>
<div><label for="code">Lines (Ctrl + Enter runs them)</label>
<textarea id="code" rows="8" spellcheck="false" autocapitalize="off" autocomplete="off"></textarea></div>
<div class="buttons"><button type="submit">Run</button> <button type="button" id="stop" hidden>Stop</button>
<p id="status" role="status"></p></div>
</form>
<h2 id="printed">Output</h2>
<div id="output" role="log" aria-labelledby="printed"></div>
<h2 id="sent">Requests</h2>
<ol id="requests" aria-labelledby="sent"></ol>
<script type="module" src="${script}"></script>`,
  };
};

const signInField = (): Html => html`<div class="buttons"><button type="button" id="sign-in">Sign in</button>
<button type="button" id="sign-out" hidden>Sign out</button>
<p id="signed" role="status"></p></div>
<details id="registration"><summary>Client of this page</summary>
<p>In development it needs none. In production, an administrator registers this page once, and you enter its id:</p>
<label for="client">Client</label>
<input id="client" name="client" autocomplete="off" spellcheck="false">
</details>`;

type Example = { readonly title: string; readonly code: string };

const EXAMPLES_MAX = 40;
/** They need no file, and delete nothing. */
const SHOWN: ReadonlySet<string> = new Set(['list', 'read', 'create', 'command', 'history', 'aggregate']);

/** One for each kind of call of each collection, as the reference of REST shows it. */
const examplesOf = (options: OpenApiOptions): readonly Example[] => {
  const { domain } = options;
  const description = describeRest(options);
  const described = { domain, description, graphql: undefined };
  const origin = new URL(options.publicUrl).origin;
  const first = exampleKind(domain).path;
  const isShown = ({ operationId }: Operation): boolean => {
    const use = useOf(domain, operationId);
    return operationsOf(domain)[operationId] !== undefined && use !== undefined && SHOWN.has(use.does);
  };
  const ofFirst = ({ path }: Operation): number => (path.split('/')[1] === first ? 0 : 1);
  const calls = description.operations
    .filter(isShown)
    .toSorted((one, other) => ofFirst(one) - ofFirst(other) || rank(one) - rank(other))
    .slice(0, EXAMPLES_MAX)
    .map((operation) => ({
      title: operation.summary,
      code: shown(callsOf(operation, described, { origin }).client),
    }));
  return [...calls, ...following(domain, first)];
};

/** Reads first: they change nothing. */
const rank = ({ method }: Operation): number => (method === 'get' ? 0 : 1);

const following = (domain: Domain, path: string): readonly Example[] => {
  if (!serves(domain, 'streams')) return [];
  return [
    {
      title: `Follow ${path} until you stop`,
      code: `for await (const event of client.follow({ types: ['${exampleKind(domain).name}.*'] })) show(event);`,
    },
  ];
};

/** A call prints its result. */
const shown = (call: string): string => {
  const [, several, one] = /^const (?:\{ (\w+)|(\w+))/.exec(call) ?? [];
  const name = several ?? one;
  return name === undefined ? call : `${call}\nshow(${name});`;
};
