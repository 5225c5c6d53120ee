import { capital, spaced } from '#kernel/base/names.ts';
import { type PartName, serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type Html, html } from '#shared/html.ts';
import { START_PATH } from './frame.ts';
import { guidePath } from './guides/links.ts';
import { type DocsPage, hrefFrom } from './page/page.ts';

type Task = {
  readonly title: string;
  readonly part?: PartName;
  readonly text: string;
  readonly links: readonly (readonly [path: string, text: string])[];
};

const tasksOf = (domain: Domain): readonly Task[] =>
  allTasksOf(domain).filter(({ part }) => part === undefined || serves(domain, part));

const allTasksOf = (domain: Domain): readonly Task[] => [
  {
    title: 'Read and write',
    text: `${capital(things(domain).join(', '))}: by REST with links${serves(domain, 'graphql') ? ', or by GraphQL with exactly the fields you need' : ''}.`,
    links: [
      ['/docs/rest', 'Every operation of REST'],
      ...(serves(domain, 'graphql') ? [['/docs/graphql', 'The GraphQL schema'] as const] : []),
      ['/docs/scopes', 'Scopes'],
      ['/docs/errors', 'Error codes'],
    ],
  },
  {
    title: 'Follow changes',
    text: `${serves(domain, 'streams') || serves(domain, 'graphql') ? 'Streams' : 'Pages'} that resume after any interruption, with no event lost or repeated.`,
    links: [
      [guidePath('changes'), 'Following changes'],
      ['/docs/events', 'Every event'],
    ],
  },
  {
    title: 'Receive webhooks',
    part: 'webhooks',
    text: 'Signed requests to your endpoint, retried for days.',
    links: [
      [guidePath('webhooks'), 'Webhooks'],
      ['/docs/webhook-verification', 'Verify signatures'],
    ],
  },
  {
    title: 'Audit',
    text: `Every change with its author and the value before${serves(domain, 'proof') ? ', and a proof that your data equals the recorded events' : ''}.`,
    links: [
      [guidePath('history'), 'History and time travel'],
      [guidePath('audit'), 'The proof'],
    ],
  },
  {
    title: 'Deploy',
    text: 'From one process to replicas of every role, and how to operate them.',
    links: [
      [guidePath('deployment'), 'Deployment'],
      [guidePath('kubernetes'), 'Kubernetes'],
      [guidePath('operations'), 'Operations'],
      ['/docs/settings', 'Settings'],
    ],
  },
  {
    title: 'Extend',
    text: 'A domain of your own, and how Annals is built.',
    links: [
      [guidePath('architecture'), 'Architecture'],
      [guidePath('domain'), 'Declare a domain'],
    ],
  },
];

const things = ({ kinds }: Domain): readonly string[] =>
  Object.values(kinds).map(({ plural }) => spaced(plural));

export const startPage = (domain: Domain): DocsPage => ({
  path: START_PATH,
  title: 'Start',
  scripts: ['former-address.js'],
  content: () => ({
    body: html`<h1>Annals</h1>
<p class="lead">An event-sourced backend for ${domain.name}: ${things(domain).join(', ')}. Every change is an event that is recorded once and never edited.
You can read it, ${(serves(domain, 'streams') || serves(domain, 'graphql')) && 'stream it, '}${serves(domain, 'webhooks') && 'receive it by webhook, '}${serves(domain, 'proof') ? 'and prove it' : 'and follow its history'}.</p>
<p>New here? <a href="${href(guidePath('tutorial'))}">The tutorial</a> takes fifteen minutes. Then <a href="${href(guidePath('domain'))}">declare a domain of your own</a> in an hour,
and bring it <a href="${href(guidePath('deployment'))}">into production</a>.</p>
<div class="tasks">
${tasksOf(domain).map(taskCard)}</div>
<h2 id="for-programs">For programs</h2>
<ul>
<li><a href="${href('/openapi.json')}">openapi.json</a>: the REST interface in OpenAPI 3.1; <a href="${href('/openapi.yaml')}">the same in YAML</a></li>
<li><a href="${href('/asyncapi.json')}">asyncapi.json</a>: streams, webhooks and subscriptions in AsyncAPI 3; <a href="${href('/asyncapi.yaml')}">the same in YAML</a></li>
<li><a href="${href('/event-types')}">event-types</a>: every event with its JSON Schema and an example</li>
${
  serves(domain, 'accounts') &&
  html`<li><a href="${href('/.well-known/openid-configuration')}">openid-configuration</a>: the endpoints of the authorization server</li>\n`
}</ul>
${withBrowser(domain)}`,
    sections: [],
  }),
});

/** The pages of other parts. */
const withBrowser = (domain: Domain): Html | false => {
  const pages = [
    serves(domain, 'console') &&
      html`<li><a href="${href('/console')}">The console</a>, for administrators</li>\n`,
    serves(domain, 'graphql') &&
      html`<li><a href="${href('/graphql')}">GraphiQL</a>: write queries in the browser, if introspection is on</li>\n`,
  ].filter((page) => page !== false);
  return (
    pages.length > 0 &&
    html`<h2 id="with-a-browser">With a browser</h2>
<ul>
${pages}</ul>`
  );
};

const href = (path: string): string => hrefFrom(START_PATH, path);

const taskCard = ({ title, text, links }: Task): Html => html`<section>
<h2>${title}</h2>
<p>${text}</p>
<ul>${links.map(([path, name]) => html`<li><a href="${href(path)}">${name}</a></li>`)}</ul>
</section>
`;
