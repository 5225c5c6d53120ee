import { expect, test } from 'vitest';
import type { EventId, Position, StreamName, UserId, Version } from '#kernel/base/brands.ts';
import type { Role } from '#kernel/base/events/fields.ts';
import type { Operation } from '#kernel/base/operation.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { type Caller, may } from '#shared/policy.ts';
import { POLICY, SCOPES } from '../../test/engines/policy.ts';
import { maySee } from './may-see.ts';
import { createPresentRights } from './present-rights.ts';
import { seesAll } from './visible-data.ts';

const caller = (role: Role): Caller => ({
  kind: 'user',
  policy: POLICY,
  userId: 1 as UserId,
  role,
  scopes: new Set(SCOPES),
  client: null,
});
const EVERYBODY: readonly Caller[] = [
  { kind: 'anonymous', policy: POLICY },
  caller('reader'),
  caller('author'),
  caller('admin'),
];

/** As another release may publish it to Kafka, or keep it in the ledger of webhooks. */
const change = (type: string, stream: string, right: string): Change => ({
  ...{
    id: 'one' as EventId,
    position: 1 as Position,
    version: 1 as Version,
    schemaVersion: 1,
    at: new Date(0).toISOString(),
  },
  ...{
    type,
    stream: stream as StreamName,
    right: right as Operation,
    resource: { ownerId: 1 as UserId, articleStatus: 'published' },
  },
  ...{ data: { articleId: 8, secret: 'planted' }, origin: null, isParked: false },
});

test.each([
  ['gadget.made', 'gadget-1', 'article.read', []],
  ['article.published', 'gadget-1', 'article.read', []],
  ['article.published', 'comment-8', 'article.read', []],
  ['article.published', 'article-8', 'gadget.read', []],
  ['article.published', 'article-8', 'toString', []],
  ['email.moved', 'email-1', 'article.read', []],
  ['article.praised', 'session-1', 'article.read', []],
  // The release that published it decided its visibility.
  ['article.praised', 'article-8', 'user.read_private', ['reader', 'author', 'admin']],
] as const)('%s in %s for those who have %s is known to %j', (type, stream, right, expected) => {
  const allowed = EVERYBODY.filter((each) => maySee(each, change(type, stream, right)));
  expect(allowed.map((each) => each.kind === 'user' && each.role)).toEqual(expected);
});

test('an unknown role has no rights', () => {
  expect(may(caller('owner' as Role), 'article.read', { fields: { status: 'published' } })).toBe(false);
});

test('an aggregate of an unknown kind is readable for nobody, without a lookup', async () => {
  const isReadable = createPresentRights({
    domain: POLICY.domain,
    run: async () => {
      throw new Error('nothing is to be looked up');
    },
  });
  for (const stream of [
    'gadget-1',
    'email-1',
    'command-1',
    'article-x',
    'user-',
    'articles-1',
    '',
  ] as StreamName[])
    for (const each of EVERYBODY) expect([stream, await isReadable(each, stream)]).toEqual([stream, false]);
  const asking = { domain: POLICY.domain, caller: caller('admin'), isReadable: async () => true };
  const change = { type: 'gadget.made', stream: 'gadget-1' as StreamName, resource: {} };
  expect(await seesAll(asking, change, {})).toBe(false);
});
