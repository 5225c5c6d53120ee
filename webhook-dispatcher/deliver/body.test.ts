// Over 200 lines, because every case composes the body of one change that is set up here.
import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type {
  EventId,
  LogIdentity,
  Position,
  StreamName,
  UserId,
  Version,
  WebhookId,
} from '#kernel/base/brands.ts';
import type { Role } from '#kernel/base/events/fields.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { EVENT_SCOPES, POLICY } from '../../test/engines/policy.ts';
import { createComposer } from './body.ts';
import type { Endpoint, Outgoing, Owner, Shape } from './delivery.ts';

const IDENTITY = '6f9619ff-0000-4000-8000-000000000000' as LogIdentity;
const ADA = 7_001 as UserId;

const commentAdded: Change = {
  position: 1_228 as Position,
  id: '0b7c1f3e-0000-4000-8000-000000000000' as EventId,
  type: 'comment.added',
  schemaVersion: 1,
  stream: 'comment-9001' as StreamName,
  version: 1 as Version,
  at: '2026-11-21T15:04:05.678Z',
  data: { commentId: 9_001, articleId: 8_001, authorId: ADA },
  right: 'comment.read',
  resource: { ownerId: ADA, articleAuthorId: ADA, articleStatus: 'published' },
  isParked: false,
  origin: null,
};

const registered: Change = {
  ...commentAdded,
  type: 'user.registered',
  stream: 'user-7002' as StreamName,
  data: { userId: 7_002, role: 'reader' },
  right: 'user.read',
  resource: { ownerId: 7_002 as UserId },
};
const profile: JsonObject = { userId: 7_002, name: 'Rita', email: 'rita@example.com', role: 'reader' };

type Given = {
  readonly change?: Change;
  readonly opened?: JsonObject;
  readonly isReadable?: boolean;
  readonly isParked?: boolean;
  readonly role?: Role;
  readonly scopes?: readonly string[];
  readonly payload?: Endpoint['payload'];
  readonly shape?: Shape | null;
};

const composedOf = ({
  change = commentAdded,
  opened,
  isReadable = true,
  isParked = false,
  role = 'author',
  scopes = EVENT_SCOPES,
  payload = 'full',
  shape = null,
}: Given) => {
  const composer = createComposer({
    domain: publishing,
    log: { identity: IDENTITY },
    open: async ({ data }) => opened ?? { ...data, text: 'Well said.' },
    isReadable: async () => isReadable,
    isParked: async () => isParked,
    publicUrl: 'https://annals.example',
  });
  const owner: Owner = {
    kind: 'user',
    policy: POLICY,
    userId: ADA,
    role,
    scopes: new Set(scopes),
    client: null,
  };
  const webhookId = 6_001 as WebhookId;
  const endpoint: Endpoint = {
    webhookId,
    ownerId: ADA,
    scopes: new Set(),
    url: 'https://example.com',
    headers: {},
    secrets: [],
    payload,
    format: 'annals',
  };
  const outgoing: Outgoing = {
    delivery: { webhookId, eventId: change.id, change, attempts: 0, shape },
    endpoint,
    owner,
  };
  return composer(outgoing);
};

const compose = async (given: Given) => {
  const composed = await composedOf(given);
  return composed.kind !== 'body'
    ? composed.kind
    : { shape: composed.shape, data: JSON.parse(composed.bytes.toString()).data };
};

const ids = { commentId: 9_001, articleId: 8_001, authorId: ADA };
const byIds = { shape: 'ids', data: ids };
const inFull = { shape: 'full', data: { ...ids, text: 'Well said.' } };

test('the body has the format of the feed', async () => {
  const composed = await composedOf({ payload: 'thin' });
  expect(composed.kind === 'body' && composed.bytes.toString()).toBe(
    '{"id":"0b7c1f3e-0000-4000-8000-000000000000","type":"comment.added","version":1,"at":"2026-11-21T15:04:05.678Z",' +
      '"cursor":"6f9619ff-y4-00000000","subject":"comment-9001","data":{"commentId":9001,"articleId":8001,"authorId":7001}}',
  );
});

test('the body has the signature of a signed command, in each shape', async () => {
  const at = '2026-11-21T15:04:00.000Z';
  const signature = { by: `user:${ADA}`, meaning: 'approval', at, means: 'passkey' } as const;
  for (const payload of ['thin', 'full'] as const) {
    const composed = await composedOf({ payload, change: { ...commentAdded, signature } });
    expect(composed.kind === 'body' && JSON.parse(composed.bytes.toString())).toMatchObject({ signature });
  }
});

/** A change of the owner’s own draft. */
const ofDraft: Change = {
  ...commentAdded,
  right: 'article.read',
  resource: { ownerId: ADA, articleStatus: 'draft' },
};

test('the first attempt contains what the webhook asks for and the owner may read', async () => {
  expect(await compose({})).toEqual(inFull);
  expect(await compose({ payload: 'thin' })).toEqual(byIds);
  expect(await compose({ isReadable: false })).toEqual(byIds);
  expect(await compose({ opened: { ...ids, text: null } }), 'erased').toEqual(byIds);
  expect(await compose({ opened: ids }), 'damaged').toEqual(byIds);
  expect(await compose({ opened: { ...ids, text: '\u0001'.repeat(50_000) } }), 'too long').toEqual(byIds);
});

test('every later attempt has the same content, whatever the webhook asks for by then, or is withheld', async () => {
  expect(await compose({ shape: 'full', payload: 'thin' })).toEqual(inFull);
  expect(await compose({ shape: 'ids', payload: 'full' })).toEqual(byIds);
  expect(await compose({ shape: 'ids', isReadable: false })).toEqual(byIds);
  expect(await compose({ shape: 'full', isReadable: false })).toBe('withheld');
  expect(await compose({ shape: 'full', opened: { ...ids, text: null } })).toBe('withheld');
});

test('a delivery of temporarily unreadable content waits if its first attempt contained more than ids', async () => {
  const away = { isReadable: false, isParked: true };
  for (const shape of ['full', 'public'] as const) expect(await compose({ ...away, shape })).toBe('waiting');
  for (const shape of ['ids', null] as const) expect(await compose({ ...away, shape })).toEqual(byIds);
  expect(await compose({ ...away, change: ofDraft, scopes: [], shape: 'full' })).toBe('withheld');
});

test('nothing is delivered to an owner who may no longer see the change', async () => {
  expect(await compose({ change: ofDraft })).toEqual(inFull);
  for (const shape of [null, 'full', 'ids'] as const)
    expect(await compose({ change: ofDraft, role: 'reader', shape })).toBe('withheld');
});

test('unpublished content is delivered if the scopes allow', async () => {
  expect(await compose({ change: ofDraft, scopes: ['read:articles'] })).toEqual(inFull);
  for (const shape of [null, 'full', 'ids'] as const)
    expect(
      await compose({ change: ofDraft, scopes: ['read:users', 'read:comments', 'manage:webhooks'], shape }),
    ).toBe('withheld');
  expect(await compose({ scopes: [] }), 'public').toEqual(inFull);
});

test('private profile data is delivered to administrators only, and stays out if the first attempt omitted it', async () => {
  const given = { change: registered, opened: profile };
  const open = { shape: 'public', data: { userId: 7_002, name: 'Rita' } };
  expect(await compose({ ...given, role: 'admin' })).toEqual({ shape: 'full', data: profile });
  expect(await compose(given)).toEqual(open);
  expect(await compose({ ...given, role: 'admin', shape: 'public' })).toEqual(open);
  expect(await compose({ ...given, shape: 'public' })).toEqual(open);
  expect(await compose({ ...given, shape: 'full' })).toBe('withheld');
});

test('a type that this release does not know is delivered unchanged', async () => {
  const unknown: Change = { ...commentAdded, type: 'comment.praised' };
  expect(await compose({ change: unknown, opened: ids })).toEqual({ shape: 'full', data: ids });
});

test('unchanged fields do not count as missing', async () => {
  const updated: Change = { ...registered, type: 'user.updated', right: 'user.read_private' };
  const data = { userId: 7_002, email: 'rita@example.org' };
  expect(await compose({ change: updated, opened: data, role: 'admin' })).toEqual({ shape: 'full', data });
  const renamed = { userId: 7_002, name: 'Rita R.' };
  expect(await compose({ change: updated, opened: renamed, role: 'admin' })).toEqual({
    shape: 'full',
    data: renamed,
  });
  expect(await compose({ change: updated, opened: { userId: 7_002, name: null }, role: 'admin' })).toEqual({
    shape: 'ids',
    data: { userId: 7_002 },
  });
});
