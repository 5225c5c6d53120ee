import type { EventDefinition } from '#kernel/base/events/define-event.ts';
import { always } from '#kernel/conditions/expression.ts';
import { operationOf } from '#kernel/conditions/rights.ts';
import { exampleKind } from '#kernel/registry/example-kind.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type TypeVisibility, visibilityOf } from '#kernel/visibility/visibility.ts';
import { absentKindsOf } from '#kernel/webhook/managed-kinds.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { type Html, html } from '#shared/html.ts';
import { type Policy, policyOf, scopeOf } from '#shared/policy.ts';
import { describeEventType } from '../../query/event-types/event-types.ts';
import { codeBlock } from '../code/block.ts';
import { fieldsOf, fieldTable } from '../fields/table.ts';
import { renderLine } from '../guides/markdown.ts';
import { filterField } from '../page/filter.ts';
import { type Content, type DocsPage, hrefFrom } from '../page/page.ts';
import type { ShownGraphql } from '../shown-graphql.ts';
import { type Sample, sampleOf } from './samples.ts';

const PATH = '/docs/events';

/** Every event type that was ever written, grouped by aggregate. */
export const eventsPage = (domain: Domain, graphql: ShownGraphql | undefined): DocsPage => ({
  path: PATH,
  title: 'Events',
  scripts: ['filter.js'],
  content: () => readContent(domain, graphql),
});

type Kind = { readonly id: string; readonly title: string; readonly types: readonly EventDefinition[] };

const INSIDE = { id: 'inside', title: 'Internal events' };

const readContent = async (domain: Domain, graphql: ShownGraphql | undefined): Promise<Content> => {
  const absent = new Set(absentKindsOf(domain).map(({ name }) => name));
  const kinds = kindsOf(catalogueOf(domain).definitions.filter(({ stream }) => !absent.has(stream.kind)));
  const entries = new Map<EventDefinition, Html>();
  for (const type of kinds.flatMap(({ types }) => types))
    entries.set(type, await entryOf(type, policyOf(domain), graphql));
  return {
    body: html`${introductionOf(domain)}
${filterField('Find a type or a field')}
${kinds.map(({ id, title, types }) => html`<h2 id="${id}">${title}</h2>\n${types.map((type) => entries.get(type))}`)}`,
    sections: kinds.map(({ id, title }) => ({ id, title })),
  };
};

const isPublic = ({ visibility }: EventDefinition): boolean => visibility === 'public';

const kindsOf = (definitions: readonly EventDefinition[]): readonly Kind[] => {
  const kinds = new Map<string, EventDefinition[]>();
  for (const definition of definitions) {
    const kind = isPublic(definition) ? (definition.type.split('.')[0] ?? '') : INSIDE.id;
    kinds.set(kind, [...(kinds.get(kind) ?? []), definition]);
  }
  const { [INSIDE.id]: inside = [], ...publicKinds } = Object.fromEntries(kinds);
  return [
    ...Object.entries(publicKinds).map(([id, each]) => ({ id, title: `${id}.*`, types: each })),
    { ...INSIDE, types: inside },
  ];
};

const introductionOf = (domain: Domain): Html => html`<h1>Events</h1>
<p>Everything that happens is an event. All interfaces have the same events, with the same id and cursor:
<a href="${hrefFrom(PATH, '/docs/guides/changes')}">${serves(domain, 'streams') ? 'streams and pages' : 'pages'}</a>,${serves(domain, 'graphql') && html` <a href="${hrefFrom(PATH, '/docs/graphql')}#subscriptions">subscriptions</a>,`}
${serves(domain, 'webhooks') && html`<a href="${hrefFrom(PATH, '/docs/guides/webhooks')}">webhooks</a>, `}<a href="${hrefFrom(PATH, '/docs/guides/history')}">histories</a> and <a href="${hrefFrom(PATH, '/docs/guides/export')}">exports</a>.
Pages need <code>read:events</code>, and so does all data of a stream. Public data needs no other scope; other data needs the scope to read it as well, such as <code>read:${exampleKind(domain).path}</code>.
Programs find the same, with JSON Schemas, at <a href="${hrefFrom(PATH, '/event-types')}"><code>/event-types</code></a>.</p>`;

/** Names who may see the event, in words. */
const audienceOf = ({ type, visibleTo }: EventDefinition, policy: Policy): string => {
  const ofDomain = visibilityOf(policy.domain).types.get(type);
  if (ofDomain !== undefined) return readersOf(ofDomain, policy);
  if (visibleTo === undefined) return 'Nobody: the event is only in the log and its exports.';
  return `The user of the event, and administrators, with \`${scopeOf(policy, visibleTo.right)}\`.`;
};

const readersOf = ({ of: { kind, guards }, decidedBy, rightTo }: TypeVisibility, policy: Policy): string => {
  const read = operationOf(kind, 'read');
  const anyone = policy.rights.get(read)?.byRole.get('anonymous') ?? new Set();
  const byWhich =
    anyone.size > 0
      ? `everybody for public data, otherwise with \`${scopeOf(policy, read)}\``
      : `with \`${scopeOf(policy, read)}\``;
  const readers = anyone.has(always)
    ? 'Everybody'
    : `Everyone who may read the ${kind.name} as it was before or after the event: ${byWhich}`;
  // A change of nothing but fields or items with a right of their own.
  const isOfPart = decidedBy.size === 0 && rightTo({}) !== read;
  if (isOfPart)
    return `Everyone who may read the ${kind.name} and its changed part, as they were before or after the event: ${byWhich}.`;
  if (decidedBy.size === 0) return `${readers}.`;
  const few = guards.map(({ operation }) => `\`${scopeOf(policy, operation)}\``).join(', ');
  return `${readers}, if ${[...decidedBy].map((name) => `\`${name}\``).join(' or ')} has changed; otherwise everyone who may read the rest, with ${few}.`;
};

const entryOf = async (
  definition: EventDefinition,
  policy: Policy,
  graphql: ShownGraphql | undefined,
): Promise<Html> => {
  const { type } = definition;
  const { description, schema, example } = describeEventType(definition);
  const fields = fieldsOf(schema);
  const names = fields.map(({ name }) => name).join(' ');
  return html`<section class="entry" data-name="${`${type} ${names}`.toLowerCase()}">
<h3 id="${type}"><code>${type}</code> <a class="anchor" href="#${type}" aria-label="Link to ${type}">#</a></h3>
<p>${renderLine(description)}</p>
<dl>
<div><dt>Version</dt><dd>${versionsOf(definition)}</dd></div>
<div><dt>Stream</dt><dd><code>${definition.stream.kind}-…</code></dd></div>
<div><dt>Visible to</dt><dd>${renderLine(audienceOf(definition, policy))}</dd></div>
<div><dt>Personal data</dt><dd>${personalOf(definition)}</dd></div>
</dl>
${fieldTable(html`Field of <code>data</code>`, fields)}${codeBlock(JSON.stringify(example, null, 2), 'json')}
${isPublic(definition) && waysOf(await sampleOf(definition, policy, graphql))}
</section>
`;
};

const versionsOf = ({ version, upcasters }: EventDefinition): Html => {
  const earlier = Object.keys(upcasters).join(', ');
  return html`${version}${earlier !== '' && html`; events that earlier releases wrote as ${earlier} are shown as ${version}`}`;
};

const personalOf = ({ personal }: EventDefinition): Html => {
  if (personal === null) return html`none`;
  const { fields, concealed = [], subject } = personal;
  const readable = fields.filter((field) => !concealed.includes(field));
  const list = (names: readonly string[]): Html =>
    html`${names.map((name, index) => html`${index > 0 && ', '}<code>${name}</code>`)}`;
  return html`${readable.length > 0 && html`${list(readable)}: sealed under the key of <code>${subject}</code>; null after that person was erased`}${
    readable.length > 0 && concealed.length > 0 && '; '
  }${concealed.length > 0 && html`${list(concealed)}: also sealed, and never shown`}`;
};

const waysOf = ({
  message,
  byGraphql,
  byWebhook,
}: Sample): Html => html`<details><summary>As clients receive it</summary>
${
  message !== undefined &&
  html`<h4>In the stream of <code>GET /events</code></h4>
${codeBlock(message)}
`
}${
  byGraphql !== undefined &&
  html`<h4>By GraphQL</h4>
${codeBlock(byGraphql.subscription, 'graphql')}
${codeBlock(JSON.stringify(byGraphql.result, null, 2), 'json')}
`
}${
  byWebhook !== undefined &&
  html`<h4>To a webhook, <code>thin</code></h4>
${codeBlock(byWebhook.thin, 'json')}
<h4>To a webhook, <code>full</code></h4>
${codeBlock(byWebhook.full, 'json')}
`
}</details>`;
