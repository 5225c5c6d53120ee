import type { Ask } from '../../testing/http/rest-client.ts';
import type { PrivateThings } from './private-things.ts';

/** A permitted change, with a field beside it that the sender must not set. */
type MassAssignment = readonly [
  name: string,
  refusal: number | string,
  request: (things: PrivateThings) => { readonly method: string; readonly path: string } & Ask,
];

const NEW_ARTICLE = { title: 'New', body: '', tags: [] };
const NEW_WEBHOOK = { url: 'http://127.0.0.1:9/', eventTypes: ['client.deleted'] };

type Members = Readonly<Record<string, (things: PrivateThings) => unknown>>;

const stranger = ({ stranger: { userId } }: PrivateThings) => userId;
const said = (value: unknown) => () => value;

/** One request for each field, beside a valid body. */
const beside = (
  [method, pathOf, right]: readonly [string, (things: PrivateThings) => string, object],
  members: Members,
  refusal: number | string = 422,
): readonly MassAssignment[] =>
  Object.entries(members).map(([member, choose]) => [
    `${method} ${pathOf(NOWHERE)} with ${member}`,
    refusal,
    (things) => ({ method, path: pathOf(things), body: { ...right, [member]: choose(things) } }),
  ]);

const NOWHERE = {
  owner: { userId: '…' },
  draft: '…',
  published: '…',
  comment: '…',
  webhook: '…',
} as unknown as PrivateThings;

const READ_ONLY: Members = {
  id: said(5),
  version: said(1),
  createdAt: said('2020-01-01T00:00:00.000Z'),
  _links: said({ self: { href: 'https://evil.example/' } }),
  '/role': said('admin'),
};

const patched = (pointer: string, value: unknown): MassAssignment => [
  `a JSON patch of ${pointer}`,
  422,
  ({ draft }) => ({
    ...{ method: 'PATCH', path: `/articles/${draft}`, type: 'application/json-patch+json' },
    body: [{ op: 'add', path: pointer, value }],
  }),
];

const mutation = (
  name: string,
  query: string,
  inputOf: (things: PrivateThings) => object,
): MassAssignment => [
  `GraphQL: ${name}`,
  'invalid_variables',
  (things) => ({
    method: 'POST',
    path: '/graphql',
    body: { query, variables: { id: String(things.draft), input: inputOf(things) } },
  }),
];

const CREATE_POST = 'mutation ($input: PostInput!) { createPost(input: $input) { id } }';
const UPDATE_POST =
  'mutation ($id: ID!, $input: PostChanges!) { updatePost(id: $id, changes: $input) { id } }';
const UPDATE_ME =
  'mutation ($of: ID = 1, $input: UserChanges!) { updateUser(id: $of, changes: $input) { id } }';
const REGISTER = 'mutation ($input: WebhookInput!) { registerWebhook(input: $input) { secret } }';

export const MASS_ASSIGNMENTS: readonly MassAssignment[] = [
  ...beside(['POST', () => '/articles', NEW_ARTICLE], {
    ...READ_ONLY,
    status: said('published'),
    author: (things) => ({ id: stranger(things) }),
  }),
  ...beside(['PATCH', ({ draft }) => `/articles/${draft}`, {}], {
    ...READ_ONLY,
    ...{
      status: said('published'),
      publishedAt: said('2020-01-01T00:00:00.000Z'),
      authorId: stranger,
      ownerId: stranger,
    },
  }),
  ...beside(['PUT', ({ draft }) => `/articles/${draft}`, { ...NEW_ARTICLE, cover: null }], {
    authorId: stranger,
    version: said(1),
  }),
  ...beside(['PATCH', ({ owner }) => `/users/${owner.userId}`, {}], { role: said('admin') }, 403),
  ...beside(['PATCH', ({ owner }) => `/users/${owner.userId}`, {}], {
    ...READ_ONLY,
    ...{
      scopes: said(['manage:clients']),
      password: said('hunter2hunter2'),
      userId: stranger,
      isAdmin: said(true),
    },
  }),
  ...beside(['POST', ({ published }) => `/articles/${published}/comments`, { text: 'Mine.' }], {
    ...READ_ONLY,
    articleId: ({ draft }) => draft,
  }),
  ...beside(['PATCH', ({ comment }) => `/comments/${comment}`, {}], {
    ...READ_ONLY,
    articleId: ({ draft }) => draft,
    authorId: stranger,
  }),
  ...beside(['POST', () => '/webhooks', NEW_WEBHOOK], {
    ...READ_ONLY,
    ...{
      secret: said('whsec_AAAA'),
      scopes: said(['read:users']),
      disabledReason: said(null),
      missedSince: said(null),
    },
  }),
  ...beside(['PATCH', ({ webhook }) => `/webhooks/${webhook}`, {}], {
    ...READ_ONLY,
    ...{ ownerId: stranger, secret: said('whsec_AAAA'), scopes: said(['read:users']), enabled: said(false) },
  }),
  patched('/version', 1),
  patched('/id', 5),
  patched('/author', { id: 5 }),
  patched('/status', 'published'),
  patched('/role', 'admin'),
  patched('/_links', {}),
  patched('/constructor', {}),
  mutation('a post with an id', CREATE_POST, () => ({ title: 'T', body: '', id: '5' })),
  mutation('a post with a status', CREATE_POST, () => ({ title: 'T', body: '', status: 'published' })),
  mutation('a post of another', UPDATE_POST, (things) => ({ author: String(stranger(things)) })),
  mutation('a post with a version', UPDATE_POST, () => ({ version: 7 })),
  mutation('a user with scopes', UPDATE_ME, () => ({ scopes: ['manage:clients'] })),
  mutation('a user with an id', UPDATE_ME, (things) => ({ id: String(stranger(things)) })),
  mutation('a webhook with a secret', REGISTER, () => ({ ...NEW_WEBHOOK, secret: 'whsec_AAAA' })),
  mutation('a webhook with scopes', REGISTER, () => ({ ...NEW_WEBHOOK, scopes: ['read:users'] })),
];
