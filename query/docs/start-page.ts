import { capital, spaced } from '#kernel/registry/names.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type Html, html } from '#shared/html.ts';
import { START_PATH } from './frame.ts';
import { guidePath } from './guides/links.ts';
import { type DocsPage, hrefFrom } from './page.ts';

type Task = { readonly title: string; readonly text: string; readonly links: readonly (readonly [path: string, text: string])[] };

const tasksOf = (domain: Domain): readonly Task[] => [
  {
    title: 'Ask and change',
    text: `${capital(things(domain).join(', '))} as resources with links, or with exactly the fields that you name.`,
    links: [
      ['/docs/rest', 'Every operation of REST'],
      ['/docs/graphql', 'The schema of GraphQL'],
    ],
  },
  {
    title: 'Follow changes',
    text: 'Streams that go on after any interruption with nothing lost and nothing twice.',
    links: [
      [guidePath('changes'), 'Following changes'],
      ['/docs/events', 'Every event'],
    ],
  },
  {
    title: 'Receive webhooks',
    text: 'Signed requests to an address of yours, tried for days.',
    links: [
      [guidePath('webhooks'), 'Webhooks'],
      ['/docs/webhook-verification', 'Verify them'],
    ],
  },
  {
    title: 'Audit',
    text: 'Who changed what, what it was before, and a proof that what you read is what was recorded.',
    links: [[guidePath('audit'), 'History, time travel and the proof']],
  },
  {
    title: 'Deploy',
    text: 'From one process to copies of every role, and what keeps them well.',
    links: [
      [guidePath('deployment'), 'Deployment'],
      [guidePath('kubernetes'), 'Kubernetes'],
      [guidePath('operations'), 'Operations'],
      ['/docs/settings', 'Every setting'],
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

/** As people read them. */
const things = ({ kinds }: Domain): readonly string[] => Object.values(kinds).map(({ plural }) => spaced(plural));

export const startPage = (domain: Domain): DocsPage => ({
  path: START_PATH,
  title: 'Start',
  scripts: ['former-address.js'],
  content: () => ({
    body: html`<h1>Annals</h1>
<p class="lead">An event-sourced backend for ${domain.name}: ${things(domain).join(', ')}. Every change is an event, recorded once and never edited, and from then on
readable, streamable, sent to webhooks, and open to audit.</p>
<p>New here? <a href="${href(guidePath('tutorial'))}">The first hour</a> goes from a clone to an application that follows changes.</p>
<div class="tasks">
${tasksOf(domain).map(taskCard)}</div>
<h2 id="for-programs">For programs</h2>
<ul>
<li><a href="${href('/openapi.json')}">openapi.json</a>: OpenAPI 3.1 of REST</li>
<li><a href="${href('/event-types')}">event-types</a>: every event with its JSON Schema and an example</li>
<li><a href="${href('/.well-known/openid-configuration')}">openid-configuration</a>: where tokens are given</li>
</ul>
<h2 id="with-a-browser">With a browser</h2>
<ul>
<li><a href="${href('/console')}">The console</a>: the installation, for administrators</li>
<li><a href="${href('/graphql')}">GraphiQL</a>: queries by hand, where introspection is on</li>
</ul>`,
    sections: [],
  }),
});

const href = (path: string): string => hrefFrom(START_PATH, path);

const taskCard = ({ title, text, links }: Task): Html => html`<section>
<h2>${title}</h2>
<p>${text}</p>
<ul>${links.map(([path, name]) => html`<li><a href="${href(path)}">${name}</a></li>`)}</ul>
</section>
`;
