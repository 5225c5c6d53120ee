import { describe, expect } from 'vitest';
import { type Field, openGraphqlAttempts } from '../engines/graphql-attempts.ts';
import { sharedTest } from '../engines/installation-fixture.ts';
import { CALLERS, CALLERS_IN_TURN, type Situation } from '../engines/scenes.ts';
import { schema } from '../engines/schema.ts';

type Outcome =
  | 'ok'
  | 'null'
  | '401'
  | '403'
  | 'forbidden'
  | 'article_not_found'
  | 'article_not_published'
  | 'webhook_not_found'
  | 'insufficient_scope';
/** In the order of CALLERS: anonymous, reader, author, other, admin, service, bare. */
type Row = readonly [Outcome, Outcome, Outcome, Outcome, Outcome, Outcome, Outcome];
type Rights = { readonly scope: string; readonly rows: { readonly [situation in Situation]?: Row } };

const forAll: Row = ['ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok'];
const ownDraft: Row = ['null', 'null', 'ok', 'null', 'ok', 'ok', 'null'];
const ownPublished: Row = ['401', 'forbidden', 'ok', 'forbidden', 'ok', 'ok', '403'];
const changeDraft: Row = ['401', 'article_not_found', 'ok', 'article_not_found', 'ok', 'ok', '403'];
const forAdmin: Row = ['401', 'forbidden', 'forbidden', 'forbidden', 'ok', 'forbidden', '403'];
const ownWebhook: Row = ['401', 'webhook_not_found', 'ok', 'webhook_not_found', 'ok', 'ok', '403'];
const changes = { published: ownPublished, draft: changeDraft };

/**
 * The rights of REST (rest-rights.long.test.ts) for the fields of GraphQL: 401 and 403 if the operation is
 * refused before it runs, otherwise the error of the field; invisible values are null.
 */
const RIGHTS = {
  users: { scope: 'read:users', rows: { '': forAll } },
  usersConnection: { scope: 'read:users', rows: { '': forAll } },
  user: { scope: 'read:users', rows: { user: forAll } },
  // Without a token there is no user, which is no refusal.
  me: { scope: 'read:users', rows: { '': ['null', 'ok', 'ok', 'ok', 'ok', 'ok', '403'] } },
  posts: { scope: 'read:articles', rows: { '': forAll } },
  postsConnection: { scope: 'read:articles', rows: { '': forAll } },
  post: { scope: 'read:articles', rows: { published: forAll, draft: ownDraft } },
  comment: { scope: 'read:comments', rows: { own: forAll, 'on a draft': ownDraft } },
  node: { scope: 'read:articles', rows: { published: forAll, draft: ownDraft } },
  // A cursor reveals nothing about its event.
  cursor: { scope: 'read:articles', rows: { '': forAll } },
  _entities: { scope: 'read:articles', rows: { published: forAll, draft: ownDraft } },
  _service: { scope: 'read:articles', rows: { '': forAll } },

  createUser: { scope: 'write:users', rows: { '': forAdmin } },
  updateUser: { scope: 'write:users', rows: { user: ownPublished, 'role of a user': forAdmin } },
  createPost: {
    scope: 'write:articles',
    rows: {
      '': ['401', 'forbidden', 'ok', 'ok', 'ok', 'ok', '403'],
      'in the name of another': forAdmin,
      // This service lacks the scope of publishing.
      'published at once': ['401', 'forbidden', 'ok', 'ok', 'ok', 'insufficient_scope', '403'],
    },
  },
  updatePost: { scope: 'write:articles', rows: changes },
  publishPost: { scope: 'publish:articles', rows: { draft: changeDraft } },
  unpublishPost: { scope: 'publish:articles', rows: { published: ownPublished } },
  setPostCover: { scope: 'write:articles', rows: changes },
  removePostCover: { scope: 'write:articles', rows: changes },
  deletePost: { scope: 'write:articles', rows: changes },
  addComment: {
    scope: 'write:comments',
    rows: {
      published: ['401', 'ok', 'ok', 'ok', 'ok', 'ok', '403'],
      draft: [
        '401',
        'article_not_found',
        'article_not_published',
        'article_not_found',
        'article_not_published',
        'article_not_published',
        '403',
      ],
      'in the name of another': forAdmin,
    },
  },
  updateComment: {
    scope: 'write:comments',
    rows: {
      own: ['401', 'ok', 'ok', 'ok', 'ok', 'ok', '403'],
      'of another': ['401', 'forbidden', 'forbidden', 'forbidden', 'ok', 'forbidden', '403'],
    },
  },
  deleteComment: {
    scope: 'write:comments',
    rows: {
      own: ['401', 'ok', 'ok', 'ok', 'ok', 'ok', '403'],
      'of another': ['401', 'forbidden', 'ok', 'forbidden', 'ok', 'ok', '403'],
    },
  },
  eventTypes: { scope: 'read:events', rows: { '': forAll } },
  auditStatus: { scope: 'read:events', rows: { '': ['401', 'ok', 'ok', 'ok', 'ok', 'ok', '403'] } },
  webhook: { scope: 'manage:webhooks', rows: { webhook: ['401', 'null', 'ok', 'null', 'ok', 'ok', '403'] } },
  webhooks: { scope: 'manage:webhooks', rows: { '': ['401', 'ok', 'ok', 'ok', 'ok', 'ok', '403'] } },
  webhooksConnection: {
    scope: 'manage:webhooks',
    rows: { '': ['401', 'ok', 'ok', 'ok', 'ok', 'ok', '403'] },
  },
  deliveriesConnection: {
    scope: 'manage:webhooks',
    rows: { '': ['401', 'ok', 'ok', 'ok', 'ok', 'ok', '403'] },
  },
  registerWebhook: {
    scope: 'manage:webhooks',
    rows: { '': ['401', 'ok', 'ok', 'ok', 'ok', 'ok', '403'], 'for another': forAdmin },
  },
  editWebhook: { scope: 'manage:webhooks', rows: { webhook: ownWebhook } },
  deleteWebhook: { scope: 'manage:webhooks', rows: { webhook: ownWebhook } },
  rotateWebhookSecret: { scope: 'manage:webhooks', rows: { webhook: ownWebhook } },
  enableWebhook: { scope: 'manage:webhooks', rows: { 'disabled webhook': ownWebhook } },
  disableWebhook: { scope: 'manage:webhooks', rows: { webhook: ownWebhook } },
  testWebhook: { scope: 'manage:webhooks', rows: { webhook: ownWebhook } },
  replayWebhook: { scope: 'manage:webhooks', rows: { webhook: ownWebhook } },
  redeliver: { scope: 'manage:webhooks', rows: { delivery: ownWebhook } },
  redriveWebhook: { scope: 'manage:webhooks', rows: { webhook: ownWebhook } },
  // Last, because then the author and the service are gone.
  deleteUser: { scope: 'write:users', rows: { user: ownPublished } },
} as const satisfies { readonly [field in Field]: Rights };

const test = sharedTest.extend('attempt', { scope: 'file' }, ({ installation }) =>
  openGraphqlAttempts(installation),
);

const rows = Object.entries(RIGHTS).flatMap(([field, { rows: situations }]) =>
  Object.entries(situations).map(
    ([situation, expected]) => [field as Field, situation as Situation, expected as Row] as const,
  ),
);

describe.each(rows)('%s %s', (field, situation, expected) => {
  test('is for the callers in the table, and others get the reason', async ({ attempt }) => {
    const { scope } = RIGHTS[field];
    const seen: Record<string, string> = {};
    for (const caller of CALLERS_IN_TURN) {
      const { status, headers, data, errors } = await attempt(field, { situation, caller, scope });
      const tried = Array.isArray(data?.tried)
        ? data.tried.length === 1
          ? data.tried[0]
          : data.tried
        : data?.tried;
      seen[caller] =
        status === 200 ? (errors?.[0]?.extensions.code ?? (tried === null ? 'null' : 'ok')) : String(status);
      if (status === 200) continue;
      // Refused before any of it ran.
      expect(data).toBeUndefined();
      expect(errors).toMatchObject([
        { extensions: { code: status === 401 ? 'unauthenticated' : 'insufficient_scope' } },
      ]);
      expect(headers.get('www-authenticate')).toMatch(
        status === 401 ? /^Bearer/ : new RegExp(`^Bearer .*scope="${scope}"`),
      );
      if (status === 403) expect(errors?.[0]?.extensions.details).toEqual({ scope });
    }
    expect(seen).toEqual(Object.fromEntries(CALLERS.map((caller, index) => [caller, expected[index]])));
  });
});

test('the table has every root field', () => {
  const fields = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
    Object.keys(type?.getFields() ?? {}),
  );
  expect(Object.keys(RIGHTS).toSorted()).toEqual(fields.toSorted());
});
