import { JOURNAL } from '../../testing/http/people.ts';
import type { Ask } from '../../testing/http/rest-client.ts';
import { OPERATIONS } from '../engines/operations.ts';
import { CANARY, type PrivateThings } from './private-things.ts';

/** Ways to read another user's private data. */
type PrivateRead = readonly [
  name: string,
  request: (things: PrivateThings) => { readonly path: string } & Ask,
];

/** Reads that concern nobody, like those without a right. `describeDomain` tries those for administrators. */
const OF_NOBODY: ReadonlySet<string> = new Set(['listEventTypes', 'getAuditStatus']);
const OF_ADMINISTRATORS: ReadonlySet<string | null> = new Set(['events.export', 'operations.read']);

type Places = Readonly<Record<string, string | number>>;
const placesOf = ({ owner, draft, comment, webhook, delivery, replay }: PrivateThings): Places => ({
  ...{
    userId: owner.userId,
    articleId: draft,
    commentId: comment,
    webhookId: webhook,
    deliveryId: delivery,
    replayId: replay,
    eventId: delivery,
  },
});

const OPERATION_READS = Object.entries(OPERATIONS)
  .filter(
    ([id, { method, path, right }]) =>
      method === 'GET' &&
      right !== null &&
      !OF_ADMINISTRATORS.has(right) &&
      !OF_NOBODY.has(id) &&
      // Numbers alone, unless it is asked for more. Their own tests compare them with the lists.
      !path.endsWith('/aggregate'),
  )
  .map(
    ([id, { path }]): PrivateRead => [
      id,
      (things) => {
        // Only published articles can have comments.
        const places: Places = id === 'listComments' ? { articleId: things.withdrawn } : placesOf(things);
        const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(places[name]));
        // Others may have filled the first pages of the log.
        return { path: id === 'listEvents' ? `${filled}?after=${things.begin}` : filled };
      },
    ],
  );

const rest =
  (pathOf: (things: PrivateThings) => string, ask: Ask = {}): PrivateRead[1] =>
  (things) => ({ path: pathOf(things), ...ask });

const REST_READS: readonly PrivateRead[] = [
  [
    'the list of their articles by status',
    rest(({ owner }) => `/articles?author=${owner.userId}&status=draft`),
  ],
  ['the list of articles by tag', rest(() => `/articles?tag=${CANARY}`)],
  ['the list of articles by words', rest(() => `/articles?q=${CANARY}`)],
  ['their articles by status', rest(({ owner }) => `/users/${owner.userId}/articles?status=draft`)],
  [
    'a draft in HAL',
    rest(({ draft }) => `/articles/${draft}`, { headers: { accept: 'application/hal+json' } }),
  ],
  ['a draft under /api', rest(({ draft }) => `/api/articles/${draft}`)],
  ['a draft as it was', rest(({ draft }) => `/articles/${draft}?at=v1`)],
  ['what was withdrawn, when it was published', rest(({ withdrawn }) => `/articles/${withdrawn}?at=v2`)],
  ['them as they were', rest(({ owner }) => `/users/${owner.userId}?at=v1`)],
  [
    'the list of articles as it was',
    rest(({ end, owner }) => `/articles?at=${end}&author=${owner.userId}&limit=100`),
  ],
  ['webhooks by owner', rest(({ owner }) => `/webhooks?owner=${owner.userId}`)],
  ['deliveries by state', rest(({ webhook }) => `/webhooks/${webhook}/deliveries?state=delivered`)],
  ['events of a draft', rest(({ draft }) => `/events?article=${draft}`)],
  ['events by subject', rest(({ webhook }) => `/events?subject=webhook-${webhook}`)],
  ['events by author', rest(({ owner }) => `/events?author=${owner.userId}&limit=100`)],
  ['the latest events', rest(() => '/events?sort=-cursor&limit=100')],
  // One page searches a limited number of events; others may have filled it.
  ['events by words', rest(({ owner }) => `/events?sort=-cursor&actor=user:${owner.userId}&text=${CANARY}`)],
  ['events by client', rest(({ begin }) => `/events?client=${JOURNAL.clientId}&after=${begin}&limit=100`)],
  ['events by who did it', rest(({ owner }) => `/events?actor=user:${owner.userId}&limit=100`)],
];

const graphql =
  (query: string, variablesOf: (things: PrivateThings) => object = () => ({})): PrivateRead[1] =>
  (things) => ({ path: '/graphql', body: { query, variables: variablesOf(things) } });

const idOf =
  (thing: 'owner' | 'draft' | 'published' | 'comment' | 'webhook') =>
  (things: PrivateThings): object => ({
    id: String(thing === 'owner' ? things.owner.userId : things[thing]),
  });

const WEBHOOK = `id url description headerNames eventTypes
  deliveriesConnection(first: 3) { nodes { id type subject attemptsConnection(first: 2) { nodes { requestHeaders { value } answer { text } } } } }
  replaysConnection(first: 2) { nodes { id } }`;
const POST = 'id title body tags';

const GRAPHQL_READS: readonly PrivateRead[] = [
  ['a user’s own', graphql('query ($id: ID!) { user(id: $id) { email role } }', idOf('owner'))],
  [
    'a user’s posts',
    graphql(
      `query ($id: ID!) { user(id: $id) { posts(limit: 50) { ${POST} } postsConnection(first: 50) { nodes { id } } } }`,
      idOf('owner'),
    ),
  ],
  [
    'a user’s webhooks',
    graphql(`query ($id: ID!) { user(id: $id) { webhooks(limit: 2) { ${WEBHOOK} } } }`, idOf('owner')),
  ],
  [
    'all users',
    graphql('{ users(limit: 20) { email posts(limit: 10) { id title } webhooks(limit: 5) { id url } } }'),
  ],
  ['all posts', graphql(`{ posts(limit: 100) { ${POST} author { email } } }`)],
  ['posts by status', graphql(`{ posts(limit: 100, filter: { status: draft }) { ${POST} } }`)],
  ['posts by words', graphql(`{ posts(filter: { search: "${CANARY}" }) { ${POST} } }`)],
  [
    'posts by tag',
    graphql(`{ postsConnection(first: 10, filter: { tag: "${CANARY}" }) { nodes { ${POST} } } }`),
  ],
  ['a draft', graphql(`query ($id: ID!) { post(id: $id) { ${POST} } }`, idOf('draft'))],
  [
    'a draft as a node',
    graphql(`query ($id: ID!) { node(id: $id) { id ... on Post { ${POST} } } }`, idOf('draft')),
  ],
  [
    'a webhook as a node',
    graphql(`query ($id: ID!) { node(id: $id) { id ... on Webhook { ${WEBHOOK} } } }`, idOf('webhook')),
  ],
  [
    'a comment as a node',
    graphql('query ($id: ID!) { node(id: $id) { id ... on Comment { text } } }', idOf('comment')),
  ],
  [
    'a user as a node',
    graphql('query ($id: ID!) { node(id: $id) { ... on User { email webhooks { id } } } }', idOf('owner')),
  ],
  [
    'a comment, and what it stands under',
    graphql('query ($id: ID!) { comment(id: $id) { text post { id title } } }', idOf('comment')),
  ],
  ['a webhook', graphql(`query ($id: ID!) { webhook(id: $id) { ${WEBHOOK} } }`, idOf('webhook'))],
  [
    'webhooks by owner',
    graphql(`query ($id: ID!) { webhooks(limit: 2, filter: { owner: $id }) { ${WEBHOOK} } }`, idOf('owner')),
  ],
  [
    'a delivery of a webhook',
    graphql(
      'query ($id: ID!, $of: ID!) { webhook(id: $of) { delivery(id: $id) { id subject } } }',
      (things) => ({
        ...{ id: things.delivery, of: things.webhook },
      }),
    ),
  ],
  [
    'by the author of what is public',
    graphql(
      `query ($id: ID!) { post(id: $id) { author { email posts(limit: 20) { id title author { webhooks(limit: 2) { url } } } } } }`,
      idOf('published'),
    ),
  ],
  [
    'entities of a federation',
    graphql(
      'query ($them: [_Any!]!) { _entities(representations: $them) { ... on User { email } ... on Post { title } ... on Comment { text } } }',
      ({ owner, draft, comment }) => ({
        them: Object.entries({ User: owner.userId, Post: draft, Comment: comment }).map(
          ([__typename, id]) => ({
            __typename,
            id: String(id),
          }),
        ),
      }),
    ),
  ],
];

export const PRIVATE_READS: readonly PrivateRead[] = [
  ...OPERATION_READS.map(([name, request]): PrivateRead => [`REST: ${name}`, request]),
  ...REST_READS.map(([name, request]): PrivateRead => [`REST: ${name}`, request]),
  ...GRAPHQL_READS.map(([name, request]): PrivateRead => [`GraphQL: ${name}`, request]),
];
