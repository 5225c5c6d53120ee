import { randomUUID } from 'node:crypto';
import type { GraphqlReply } from '../../testing/graphql/graphql-client.ts';
import { PIXEL } from '../../testing/pixel.ts';
import type { Installation } from './installation.ts';
import { type Asked, openScenes } from './scenes.ts';

/** Tries a root field as a caller, on an item made for this one attempt. */
export type Attempt = (
  field: Field,
  asked: Asked,
) => Promise<GraphqlReply<{ readonly tried: unknown } | null | undefined>>;

export const openGraphqlAttempts = async (installation: Installation): Promise<Attempt> => {
  const sceneOf = await openScenes(installation);
  return async (field, asked) => {
    const { holder, ids, more, visible } = await sceneOf(asked);
    const known = {
      id: ids.webhookId ?? ids.commentId ?? ids.articleId ?? ids.userId ?? 0,
      ...ids,
      more: more && inGraphql(more),
    };
    const { query, variables = {} } = FIELDS[field](known);
    const body = field === 'setPostCover' ? withFile(query, variables) : JSON.stringify({ query, variables });
    const response = await installation.fetch(`${installation.url}/graphql`, {
      method: 'POST',
      headers: {
        ...(typeof body === 'string'
          ? { 'content-type': 'application/json' }
          : { 'graphql-require-preflight': '1' }),
        ...(holder && { authorization: `Bearer ${holder.token}` }),
        ...visible,
      },
      body,
    });
    const { data, errors, extensions } = (await response.json()) as Awaited<ReturnType<Attempt>>;
    return { data, errors, extensions, status: response.status, headers: response.headers };
  };
};

/** Fields that REST names differently. */
const inGraphql = ({
  authorId,
  ownerId,
  ...more
}: {
  readonly authorId?: number;
  readonly ownerId?: number;
}): object => ({
  ...more,
  ...(ownerId !== undefined && { owner: String(ownerId) }),
  ...(authorId !== undefined && { author: String(authorId) }),
});

/** The GraphQL multipart request specification. */
const withFile = (query: string, variables: object): FormData => {
  const form = new FormData();
  form.append('operations', JSON.stringify({ query, variables: { ...variables, file: null } }));
  form.append('map', JSON.stringify({ 0: ['variables.file'] }));
  form.append('0', new Blob([PIXEL], { type: 'image/png' }), 'pixel.png');
  return form;
};

type Known = {
  readonly id: number;
  readonly articleId?: number;
  readonly commentId?: number;
  readonly deliveryId?: string;
  readonly more: object | undefined;
};
type Operation = { readonly query: string; readonly variables?: object };

const byId =
  (text: string) =>
  ({ id }: Known): Operation => ({ query: `query ($id: ID!) { tried: ${text} }`, variables: { id } });
const all = (text: string) => (): Operation => ({ query: `{ tried: ${text} }` });
const changing =
  (text: string) =>
  ({ id }: Known): Operation => ({ query: `mutation ($id: ID!) { tried: ${text} }`, variables: { id } });

const FIELDS = {
  node: byId('node(id: $id) { id }'),
  user: byId('user(id: $id) { id name }'),
  users: all('users { id }'),
  usersConnection: all('usersConnection { nodes { id } }'),
  me: all('me { id email }'),
  post: byId('post(id: $id) { id title }'),
  posts: all('posts { id }'),
  postsConnection: all('postsConnection { nodes { id } }'),
  comment: byId('comment(id: $id) { id text }'),
  cursor: all('cursor'),
  _entities: ({ articleId }: Known) => ({
    query: 'query ($them: [_Any!]!) { tried: _entities(representations: $them) { ... on Post { title } } }',
    variables: { them: [{ __typename: 'Post', id: String(articleId) }] },
  }),
  _service: all('_service { sdl }'),
  eventTypes: all('eventTypes { type schema }'),
  auditStatus: all('auditStatus { chained signed }'),
  webhook: byId('webhook(id: $id) { id url }'),
  webhooks: all('webhooks { id }'),
  webhooksConnection: all('webhooksConnection { nodes { id } }'),
  deliveriesConnection: all('deliveriesConnection { nodes { id } }'),

  createUser: () => ({
    query: 'mutation ($input: UserInput!) { tried: createUser(input: $input) { id email } }',
    variables: { input: { name: 'Nadia', email: `${randomUUID()}@example.com` } },
  }),
  updateUser: ({ id, more }: Known) => ({
    query:
      'mutation ($id: ID!, $changes: UserChanges!) { tried: updateUser(id: $id, changes: $changes) { id name } }',
    variables: { id, changes: more ?? { name: 'Augusta Ada' } },
  }),
  createPost: ({ more }: Known) => ({
    query: 'mutation ($input: PostInput!) { tried: createPost(input: $input) { id title } }',
    variables: { input: { title: 'New', body: '', ...more } },
  }),
  updatePost: changing('updatePost(id: $id, changes: { title: "Edited" }) { id title }'),
  publishPost: changing('publishPost(id: $id) { id status }'),
  unpublishPost: changing('unpublishPost(id: $id) { id status }'),
  setPostCover: ({ id }: Known) => ({
    query: 'mutation ($id: ID!, $file: Upload!) { tried: setPostCover(id: $id, file: $file) { id cover } }',
    variables: { id },
  }),
  removePostCover: changing('removePostCover(id: $id) { id cover }'),
  deletePost: changing('deletePost(id: $id)'),
  addComment: ({ id, more }: Known) => ({
    query:
      'mutation ($id: ID!, $input: CommentInput!) { tried: addComment(postId: $id, input: $input) { id text } }',
    variables: { id, input: { text: 'Well said.', ...more } },
  }),
  updateComment: changing('updateComment(id: $id, text: "Edited.") { id text }'),
  deleteComment: changing('deleteComment(id: $id)'),
  registerWebhook: ({ more }: Known) => ({
    query:
      'mutation ($input: WebhookInput!) { tried: registerWebhook(input: $input) { secret webhook { id } } }',
    variables: { input: { url: 'http://127.0.0.1:9/', eventTypes: ['client.deleted'], ...more } },
  }),
  editWebhook: changing('editWebhook(id: $id, changes: { description: "Edited." }) { id }'),
  deleteWebhook: changing('deleteWebhook(id: $id)'),
  rotateWebhookSecret: changing('rotateWebhookSecret(id: $id) { secret webhook { id } }'),
  enableWebhook: changing('enableWebhook(id: $id) { id enabled }'),
  disableWebhook: changing('disableWebhook(id: $id) { id enabled }'),
  testWebhook: changing('testWebhook(id: $id) { cursor webhook { id } }'),
  replayWebhook: changing(
    'replayWebhook(id: $id, since: "2026-01-01T00:00:00.000Z") { cursor webhook { id } }',
  ),
  redeliver: ({ id, deliveryId }: Known) => ({
    query:
      'mutation ($id: ID!, $deliveryId: ID!) { tried: redeliver(webhookId: $id, deliveryId: $deliveryId) { cursor } }',
    variables: { id, deliveryId },
  }),
  redriveWebhook: changing('redriveWebhook(id: $id) { cursor webhook { id } }'),
  deleteUser: changing('deleteUser(id: $id)'),
} as const satisfies Record<string, (known: Known) => Operation>;
export type Field = keyof typeof FIELDS;
