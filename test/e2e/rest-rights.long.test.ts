// Over 200 lines, because it is one table: each operation of REST, with the status for each caller.
import { describe, expect } from 'vitest';
import { sharedTest } from '../engines/installation-fixture.ts';
import { OPERATIONS } from '../engines/operations.ts';
import { openRestAttempts } from '../engines/rest-attempts.ts';
import { CALLERS, CALLERS_IN_TURN, type Situation } from '../engines/scenes.ts';

/** In the order of CALLERS: anonymous, reader, author, other, admin, service, bare. */
type Row = readonly [number, number, number, number, number, number, number];
type Rights = { readonly scope: string; readonly rows: { readonly [situation in Situation]?: Row } };

/** Another user's webhook is absent for all but administrators. */
const ownWebhook = (status: number): Row => [401, 404, status, 404, status, status, 403];

/** Public data needs no scope; other data is absent, as without a token. */
const PUBLIC: Row = [200, 200, 200, 200, 200, 200, 200];
const OWN_DRAFT: Row = [404, 404, 200, 404, 200, 200, 404];

const ADMINISTRATORS: Row = [401, 403, 403, 403, 200, 403, 403];

/** The rights over REST (DESIGN §3), and the answers to other callers, written manually. */
const RIGHTS = {
  listUsers: { scope: 'read:users', rows: { '': PUBLIC } },
  createUser: { scope: 'write:users', rows: { '': [401, 403, 403, 403, 201, 403, 403] } },
  getMe: { scope: 'read:users', rows: { '': [401, 200, 200, 200, 200, 200, 403] } },
  getUser: { scope: 'read:users', rows: { user: PUBLIC } },
  replaceUser: { scope: 'write:users', rows: { user: [401, 403, 200, 403, 200, 200, 403] } },
  editUser: {
    scope: 'write:users',
    rows: {
      user: [401, 403, 200, 403, 200, 200, 403],
      'role of a user': [401, 403, 403, 403, 200, 403, 403],
    },
  },
  // The user exists, and there is nothing to report.
  getErasureOfUser: { scope: 'read:events', rows: { user: [401, 403, 403, 403, 404, 403, 403] } },
  listArticlesOfUser: { scope: 'read:articles', rows: { user: PUBLIC } },

  listArticles: { scope: 'read:articles', rows: { '': PUBLIC } },
  createArticle: {
    scope: 'write:articles',
    rows: {
      '': [401, 403, 201, 201, 201, 201, 403],
      'in the name of another': [401, 403, 403, 403, 201, 403, 403],
      // This service lacks the scope of publishing.
      'published at once': [401, 403, 201, 201, 201, 403, 403],
    },
  },
  getArticle: {
    scope: 'read:articles',
    rows: { published: PUBLIC, draft: OWN_DRAFT },
  },
  replaceArticle: {
    scope: 'write:articles',
    rows: { published: [401, 403, 200, 403, 200, 200, 403], draft: [401, 404, 200, 404, 200, 200, 403] },
  },
  editArticle: {
    scope: 'write:articles',
    rows: { published: [401, 403, 200, 403, 200, 200, 403], draft: [401, 404, 200, 404, 200, 200, 403] },
  },
  deleteArticle: {
    scope: 'write:articles',
    rows: { published: [401, 403, 204, 403, 204, 204, 403], draft: [401, 404, 204, 404, 204, 204, 403] },
  },
  publishArticle: { scope: 'publish:articles', rows: { draft: [401, 404, 200, 404, 200, 200, 403] } },
  unpublishArticle: { scope: 'publish:articles', rows: { published: [401, 403, 200, 403, 200, 200, 403] } },
  putCover: {
    scope: 'write:articles',
    rows: { published: [401, 403, 200, 403, 200, 200, 403], draft: [401, 404, 200, 404, 200, 200, 403] },
  },
  deleteCover: {
    scope: 'write:articles',
    rows: { published: [401, 403, 204, 403, 204, 204, 403], draft: [401, 404, 204, 404, 204, 204, 403] },
  },

  listComments: {
    scope: 'read:comments',
    rows: { published: PUBLIC, draft: OWN_DRAFT },
  },
  addComment: {
    scope: 'write:comments',
    rows: {
      published: [401, 201, 201, 201, 201, 201, 403],
      // Callers who can see it learn that it is not published.
      draft: [401, 404, 409, 404, 409, 409, 403],
      'in the name of another': [401, 403, 403, 403, 201, 403, 403],
    },
  },
  getComment: {
    scope: 'read:comments',
    rows: { own: PUBLIC, 'on a draft': OWN_DRAFT },
  },
  replaceComment: {
    scope: 'write:comments',
    rows: { own: [401, 200, 200, 200, 200, 200, 403], 'of another': [401, 403, 403, 403, 200, 403, 403] },
  },
  editComment: {
    scope: 'write:comments',
    rows: { own: [401, 200, 200, 200, 200, 200, 403], 'of another': [401, 403, 403, 403, 200, 403, 403] },
  },
  deleteComment: {
    scope: 'write:comments',
    rows: { own: [401, 204, 204, 204, 204, 204, 403], 'of another': [401, 403, 204, 403, 204, 204, 403] },
  },

  listEvents: { scope: 'read:events', rows: { '': [401, 200, 200, 200, 200, 200, 403] } },
  // Tests of their own cover the events.
  getRecordedEvent: { scope: 'read:events', rows: { 'no event': [401, 404, 404, 404, 404, 404, 403] } },
  traceRecordedEvent: { scope: 'read:events', rows: { 'no event': [401, 404, 404, 404, 404, 404, 403] } },

  listUserHistory: { scope: 'read:events', rows: { user: [401, 200, 200, 200, 200, 200, 403] } },
  listArticleHistory: {
    scope: 'read:events',
    rows: { published: [401, 200, 200, 200, 200, 200, 403], draft: [401, 404, 200, 404, 200, 200, 403] },
  },
  listCommentHistory: {
    scope: 'read:events',
    rows: { own: [401, 200, 200, 200, 200, 200, 403], 'on a draft': [401, 404, 200, 404, 200, 200, 403] },
  },
  // The service lacks the scope of webhooks, so there are none for it.
  listWebhookHistory: { scope: 'read:events', rows: { webhook: [401, 404, 200, 404, 200, 404, 403] } },

  listEventTypes: { scope: 'read:events', rows: { '': [200, 200, 200, 200, 200, 200, 200] } },

  exportLog: { scope: 'read:events', rows: { '': [401, 403, 403, 403, 200, 403, 403] } },
  getAuditStatus: { scope: 'read:events', rows: { '': [401, 200, 200, 200, 200, 200, 403] } },
  listAuditHeads: { scope: 'read:events', rows: { '': [401, 403, 403, 403, 200, 403, 403] } },
  listAuditKeys: { scope: 'read:events', rows: { '': [200, 200, 200, 200, 200, 200, 200] } },

  getOperations: { scope: 'read:events', rows: { '': ADMINISTRATORS } },
  getOperationsSamples: { scope: 'read:events', rows: { '': ADMINISTRATORS } },
  listParkedItems: { scope: 'read:events', rows: { '': ADMINISTRATORS } },
  listParkedConsequences: { scope: 'read:events', rows: { '': ADMINISTRATORS } },
  listTimers: { scope: 'read:events', rows: { '': ADMINISTRATORS } },
  listOrders: { scope: 'read:events', rows: { '': ADMINISTRATORS } },
  getOrder: { scope: 'read:events', rows: { 'no order': [401, 403, 403, 403, 404, 403, 403] } },
  // Other tests cover parked items.
  retryParkedItem: {
    scope: 'manage:operations',
    rows: { 'not parked': [401, 403, 403, 403, 404, 403, 403] },
  },
  releaseParkedItem: {
    scope: 'manage:operations',
    rows: { 'not parked': [401, 403, 403, 403, 404, 403, 403] },
  },
  verifyLog: { scope: 'manage:operations', rows: { '': [401, 403, 403, 403, 202, 403, 403] } },

  listWebhooks: { scope: 'manage:webhooks', rows: { '': [401, 200, 200, 200, 200, 200, 403] } },
  createWebhook: {
    scope: 'manage:webhooks',
    rows: { '': [401, 201, 201, 201, 201, 201, 403], 'for another': [401, 403, 403, 403, 201, 403, 403] },
  },
  getWebhook: { scope: 'manage:webhooks', rows: { webhook: ownWebhook(200) } },
  replaceWebhook: { scope: 'manage:webhooks', rows: { webhook: ownWebhook(200) } },
  editWebhook: { scope: 'manage:webhooks', rows: { webhook: ownWebhook(200) } },
  deleteWebhook: { scope: 'manage:webhooks', rows: { webhook: ownWebhook(204) } },
  rotateWebhookSecret: { scope: 'manage:webhooks', rows: { webhook: ownWebhook(200) } },
  enableWebhook: { scope: 'manage:webhooks', rows: { 'disabled webhook': ownWebhook(200) } },
  disableWebhook: { scope: 'manage:webhooks', rows: { webhook: ownWebhook(200) } },
  testWebhook: {
    scope: 'manage:webhooks',
    rows: { webhook: ownWebhook(202), 'disabled webhook': ownWebhook(409) },
  },
  replayWebhook: { scope: 'manage:webhooks', rows: { webhook: ownWebhook(202) } },
  redriveWebhook: { scope: 'manage:webhooks', rows: { webhook: ownWebhook(202) } },
  searchDeliveries: { scope: 'manage:webhooks', rows: { '': [401, 200, 200, 200, 200, 200, 403] } },
  listFailedDeliveries: { scope: 'manage:webhooks', rows: { '': [401, 200, 200, 200, 200, 200, 403] } },
  getWebhookStatistics: { scope: 'manage:webhooks', rows: { webhook: ownWebhook(200) } },
  getDeliveryBody: { scope: 'manage:webhooks', rows: { delivery: ownWebhook(200) } },
  listDeliveries: { scope: 'manage:webhooks', rows: { webhook: ownWebhook(200) } },
  getDelivery: { scope: 'manage:webhooks', rows: { delivery: ownWebhook(200) } },
  listAttempts: { scope: 'manage:webhooks', rows: { delivery: ownWebhook(200) } },
  redeliver: { scope: 'manage:webhooks', rows: { delivery: ownWebhook(202) } },
  listReplays: { scope: 'manage:webhooks', rows: { webhook: ownWebhook(200) } },
  getReplay: { scope: 'manage:webhooks', rows: { replay: ownWebhook(200) } },

  // Last, because then the author and the service are gone.
  deleteUser: { scope: 'write:users', rows: { user: [401, 403, 204, 403, 204, 204, 403] } },
} as const satisfies Readonly<Record<string, Rights>>;
type OperationId = keyof typeof RIGHTS;

const test = sharedTest.extend('attempt', { scope: 'file' }, ({ installation }) =>
  openRestAttempts(installation),
);

const rows = Object.entries(RIGHTS).flatMap(([id, { rows: situations }]) =>
  Object.entries(situations).map(
    ([situation, statuses]) => [id as OperationId, situation as Situation, statuses as Row] as const,
  ),
);

describe.each(rows)('%s %s', (id, situation, statuses) => {
  test('is for the callers in the table, and others get the reason', async ({ attempt }) => {
    const seen: Record<string, number> = {};
    for (const caller of CALLERS_IN_TURN) {
      const { status, headers, body } = await attempt(id, { situation, caller, scope: RIGHTS[id].scope });
      seen[caller] = status;
      if (status < 400) continue;
      expect(headers.get('content-type')).toMatch(/^application\/problem\+json/);
      expect(body).toMatchObject({ status, code: expect.stringMatching(/^[a-z_]+$/) });
      if (status === 401) expect(headers.get('www-authenticate')).toMatch(/^Bearer/);
      if (caller === 'bare' && status !== 404)
        expect(body).toMatchObject({ code: 'insufficient_scope', details: { scope: RIGHTS[id].scope } });
    }
    expect(seen).toEqual(Object.fromEntries(CALLERS.map((caller, index) => [caller, statuses[index]])));
  });
});

test('the table has every operation', () => {
  expect(Object.keys(RIGHTS).toSorted()).toEqual(Object.keys(OPERATIONS).toSorted());
});
