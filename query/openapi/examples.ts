// Over 200 lines, because it is one table: an example of each named schema, which a test validates.

import { EXAMPLE_CURSOR } from '#kernel/base/cursor.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { capital } from '#kernel/base/names.ts';
import { filtersOf } from '#kernel/registry/event-references.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { examplesOfKind } from '#kernel/rest/examples.ts';
import { exampleOfView } from '#kernel/rest/views.ts';
import { operatorExamplesOf } from './operator-examples.ts';

const written = { createdAt: '2026-11-21T09:30:00.000Z', updatedAt: '2026-11-21T10:15:00.000Z' };
const EVENT_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';
const HOOK = {
  description: 'The shop',
  eventTypes: ['user.*', 'webhook.deleted'],
  payload: 'thin',
  format: 'annals',
  ordered: false,
  limits: { ratePerSecond: 50, concurrency: 10 },
};

const DRIFT = {
  ...{ against: 'database', driftMs: -1.5, uncertaintyMs: 0.4 },
  ...{ at: '2026-11-21T10:15:00.000Z', role: 'annals-command' },
};
const HEAD = {
  count: 1440,
  at: '2026-11-21T10:15:00.000Z',
  head: '5a0f27b4f5c1f6e7b5a5c8f2d9c6b3e17e9f0c4d2b8a6f1c3d5e7f9a1b2c4d6e',
  key: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  statement: '{"at":"2026-11-21T10:15:00.000Z","count":1440,"v":1}',
  signature: 'hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg',
};

const VKEY =
  'annals/6f9619ff-8b86-4011-b42d-00c04fc964ff+b99cd67e+AddamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea';

const SERVICE = {
  name: 'Importer',
  tokenEndpointAuthMethod: 'client_secret_basic',
  grantTypes: ['client_credentials'],
  redirectUris: [],
  postLogoutRedirectUris: [],
  scopes: ['read:users', 'write:users'],
  defaultScopes: ['read:users', 'write:users'],
  firstParty: false,
  requireDpop: false,
  requirePar: false,
  tlsClientAuthSubject: null,
  jwks: null,
  disabled: false,
};

const CLIENT = {
  clientId: 'importer',
  ...SERVICE,
  serviceAccount: 1002,
  selfRegistered: false,
  lastUsedAt: '2026-11-22T08:00:00.000Z',
  ...written,
  _links: {
    self: { href: '/clients/importer' },
    secret: { href: '/clients/importer/secret', method: 'POST' },
  },
};

const WITH_SECRET = {
  id: 6001,
  version: 1,
  cursor: EXAMPLE_CURSOR,
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  _links: { self: { href: '/webhooks/6001' } },
} as const;

const NEW_CLIENT = {
  clientId: 'importer',
  name: 'Importer',
  grantTypes: ['client_credentials'],
  tokenEndpointAuthMethod: 'client_secret_basic',
  scopes: ['read:users', 'write:users'],
};

/** Examples of named schemas; a test validates each against its schema. */
export const examplesOf = (domain: Domain): Examples => {
  const ofKinds = Object.values(domain.kinds).map((kind) => examplesOfKind(domain, kind));
  const views = domain.views.map((view) => [capital(view.name), exampleOfView(domain, view)] as const);
  const NewOAuthClient = { ...NEW_CLIENT, serviceAccountRole: domain.signUp };
  const NewInvitation = { email: 'grace@example.com', role: domain.signUp };
  const NewPersonalToken = {
    name: 'Nightly import',
    scopes: ['read:users'],
    expiresAt: '2027-05-21T00:00:00.000Z',
  };
  return {
    ...KERNEL_EXAMPLES,
    ...operatorExamplesOf(domain),
    NewOAuthClient,
    NewInvitation,
    NewPersonalToken,
    Webhook: webhookExample(domain),
    ...Object.assign({}, ...ofKinds),
    ...Object.fromEntries(views),
  };
};

type Examples = Readonly<Record<string, JsonObject | readonly JsonObject[]>>;

const webhookExample = (domain: Domain): JsonObject => ({
  id: 6001,
  ownerId: 1001,
  url: 'https://shop.example/hooks',
  ...HOOK,
  filter: Object.fromEntries([...filtersOf(domain).keys()].slice(-1).map((name) => [name, 1001])),
  headers: { 'X-Team': '********' },
  scopes: ['read:users', 'manage:webhooks'],
  enabled: true,
  status: 'enabled',
  ...written,
  _links: {
    self: { href: '/webhooks/6001' },
    deliveries: { href: '/webhooks/6001/deliveries' },
    disable: { href: '/webhooks/6001/disable', method: 'POST' },
  },
});

const DELIVERY: JsonObject = {
  id: EVENT_ID,
  webhookId: 6001,
  eventId: EVENT_ID,
  type: 'user.updated',
  subject: 'user-1001',
  cursor: EXAMPLE_CURSOR,
  state: 'due',
  attempts: 1,
  nextAt: '2026-11-21T10:15:05.000Z',
  lastStatus: 503,
  lastError: null,
  createdAt: written.updatedAt,
  deliveredAt: null,
  _links: {
    self: { href: `/webhooks/6001/deliveries/${EVENT_ID}` },
    redeliver: { href: `/webhooks/6001/deliveries/${EVENT_ID}/redeliver`, method: 'POST' },
  },
};

const KERNEL_EXAMPLES: Examples = {
  NewWebhook: { url: 'https://shop.example/hooks', eventTypes: ['user.*', 'webhook.deleted'] },
  WebhookReplacement: {
    url: 'https://shop.example/hooks',
    ...HOOK,
    filter: {},
    headers: { 'X-Team': '********' },
  },
  WebhookPatch: { url: 'https://shop.example/hooks/2', payload: 'full' },
  WrittenWithSecret: WITH_SECRET,
  WrittenWebhook: { ...WITH_SECRET, withheld: [] },
  OAuthClient: CLIENT,
  OAuthClientAndSecret: { ...CLIENT, secret: 'annals_secret_bm90IGEgcmVhbCBvbmU' },
  OAuthClientReplacement: SERVICE,
  OAuthClientPatch: { scopes: ['read:users'] },
  Delivery: DELIVERY,
  FoundDelivery: { ...DELIVERY, url: 'https://shop.example/hooks' },
  FailedDeliveries: {
    webhookId: 6001,
    url: 'https://shop.example/hooks',
    dead: 12,
    retrying: 3,
    _links: { redrive: { href: '/webhooks/6001/redrive', method: 'POST' } },
  },
  DeliveryBody: {
    body: `{"id":"${EVENT_ID}","type":"user.updated","version":1,"at":"${written.updatedAt}","cursor":"${EXAMPLE_CURSOR}","subject":"user-1001","data":{"userId":1001}}`,
    reason: null,
  },
  WebhookStatistics: {
    webhookId: 6001,
    seconds: 900,
    points: [{ at: '2026-11-21T10:15:00.000Z', arrived: 96, failed: 4, durationMs: 41 }],
    _links: { self: { href: '/webhooks/6001/statistics' } },
  },
  NewRedrive: { since: '2026-11-20T00:00:00.000Z', until: '2026-11-21T00:00:00.000Z', retrying: true },
  DeliveryAttempt: {
    number: 1,
    at: written.updatedAt,
    durationMs: 41,
    status: 503,
    error: null,
    requestHeaders: {
      'content-type': 'application/json',
      'webhook-id': EVENT_ID,
      'webhook-timestamp': '1795256100',
    },
    answer: { headers: { 'retry-after': '5' }, text: 'Too busy.', truncated: false },
  },
  Replay: {
    id: EVENT_ID,
    webhookId: 6001,
    from: '6f9619ff-1a0',
    since: null,
    to: EXAMPLE_CURSOR,
    at: '6f9619ff-1k9',
    planned: 480,
    state: 'running',
    requestedAt: written.updatedAt,
    finishedAt: null,
    _links: { self: { href: `/webhooks/6001/replays/${EVENT_ID}` } },
  },
  NewReplay: { from: '6f9619ff-1a0' },
  AuditHead: HEAD,
  EventProof: {
    event: EVENT_ID,
    index: 1439,
    size: 1440,
    vkey: VKEY,
    isWitnessed: true,
    proof: 'c2sp.org/tlog-proof@v1\nextra eyJldmVudCI6…\nindex 1439\n…',
  },
  AuditKeys: {
    keys: [
      {
        kty: 'OKP',
        crv: 'Ed25519',
        x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
        kid: HEAD.key,
        use: 'sig',
        alg: 'EdDSA',
        made_at: '2026-11-21T09:30:00.000Z',
        endorsed_by: null,
        endorsement: null,
        endorsement_text: '{"endorses":"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k","key":null}',
        vkey: VKEY,
      },
    ],
  },
  AuditStatus: {
    log: { cursor: '6f9619ff-15o' },
    chain: { count: 1500, cursor: '6f9619ff-15o', head: HEAD.head },
    signed: { count: HEAD.count, at: HEAD.at, head: HEAD.head, key: HEAD.key },
    unproven: { events: 60, since: HEAD.at },
    readModel: { cursor: '6f9619ff-15o' },
    verified: {
      count: 1200,
      cursor: '6f9619ff-xc',
      began: '2026-11-21T10:10:00.000Z',
      finished: null,
      differences: 0,
    },
    witnessed: { count: 1500, at: '2026-11-21T10:15:01.000Z' },
    stamped: null,
    clock: {
      ...{ source: 'chrony', since: '2026-11-20', measurements: 2880, wentBack: 0 },
      ...{ largest: [DRIFT], recent: [DRIFT] },
    },
  },
  EventType: {
    type: 'user.deleted',
    version: 1,
    description: 'A user was deleted. The key of the personal data is destroyed afterwards.',
    schema: { type: 'object', properties: { userId: { type: 'integer' } } },
    example: { userId: 1001 },
    personalFields: [],
    _links: { schema: { href: '/schemas/events/user.deleted/1' } },
  },
  HistoryEntry: {
    version: 3,
    id: EVENT_ID,
    type: 'user.updated',
    at: written.updatedAt,
    cursor: EXAMPLE_CURSOR,
    actor: 'user:1001',
    client: 'shop',
    request: '3f1c2a5e-8b7d-4e9a-9c46-2d5b7f0e1a33',
    correlation: '3f1c2a5e-8b7d-4e9a-9c46-2d5b7f0e1a33',
    causation: null,
    changes: [{ field: 'name', from: 'Ada Lovelace', to: 'Ada King' }],
    _links: { self: { href: '/users/1001?at=v3' } },
  },
  FieldChange: {
    field: 'body',
    diff: '@@ -1,1 +1,1 @@\n-It weaves patterns.\n+It weaves *algebraical* patterns.',
  },
  JsonPatch: [{ op: 'replace', path: '/name', value: 'Ada King' }],
  Written: { id: 1001, version: 3, cursor: EXAMPLE_CURSOR, _links: { self: { href: '/users/1001' } } },
};
