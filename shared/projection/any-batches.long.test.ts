// Over 200 lines, because it is one property: arbitrary histories with damaged events, and the read model
// after any cut into batches.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { EventId, Position, UserId, Version, WebhookId } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import type { NewEvent, RecordedEvent } from '#shared/event-log/event-log.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import { createCodec } from '#shared/events/codec.ts';
import { memoryKeyStore } from '#shared/keys/memory/key-store.ts';
import { migrateProjector } from '../../projector/migrate.ts';
import { createDatabase, type TestDatabase } from '../../test/engines/database.ts';
import { tables } from '../../test/engines/tables.ts';
import type { ArticleId, CommentId } from '../../test/publishing-ids.ts';
import { digestOf } from './digest.ts';
import { project } from './project.ts';
import { createReadModel, useReadModel } from './schema.ts';

const codec = createCodec({ keys: memoryKeyStore(), domain: publishing });
let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await createDatabase();
  pool = openPool({ url: database.url, applicationName: 'test', connectionsMax: 4 });
  await migrateProjector(pool);
  for (const schema of ['singly', 'at_once', 'in_batches']) await createReadModel(pool, tables, schema);
});
afterAll(async () => {
  await pool?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
});

const id = fc.integer({ min: 1, max: 3 });
const marked = fc.record({ articleId: id as fc.Arbitrary<ArticleId>, authorId: id as fc.Arbitrary<UserId> });
const text = fc.constantFrom('one', 'two', 'drei 🦉');
const comment = fc.record({
  commentId: id as fc.Arbitrary<CommentId>,
  articleId: fc.constant(1 as ArticleId),
  authorId: id as fc.Arbitrary<UserId>,
});

const METADATA = {
  at: '2026-01-02T03:04:05.678Z',
  actor: 'system:test',
  client: null,
  request: 'r',
  correlation: 'c',
  causation: null,
} as const;

const webhook = fc.record({ webhookId: id as fc.Arbitrary<WebhookId>, ownerId: id as fc.Arbitrary<UserId> });
const registration = fc.record({
  ...{
    webhookId: id as fc.Arbitrary<WebhookId>,
    ownerId: id as fc.Arbitrary<UserId>,
    description: text,
    enabled: fc.boolean(),
  },
  ...{
    url: fc.constant('https://example.com/1'),
    eventTypes: fc.constant(['*']),
    filter: fc.constant({}),
    payload: fc.constant('thin' as const),
  },
  ...{
    ordered: fc.boolean(),
    limits: fc.constant({ ratePerSecond: 50, concurrency: 10 }),
    headers: fc.constant({}),
  },
  secret: fc.constant('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'),
  scopes: fc.constant(['read:articles' as const]),
});

/** Few rows and many events, in orders that the deciders would never allow too. */
const event = fc.oneof(
  fc
    .record({
      userId: id as fc.Arbitrary<UserId>,
      name: text,
      role: fc.constant('author' as const),
      email: fc.constant(null),
    })
    .map((data) => ({ type: 'user.registered' as const, data })),
  fc
    .record({ userId: id as fc.Arbitrary<UserId>, name: text })
    .map((data) => ({ type: 'user.updated' as const, data })),
  fc.record({ userId: id as fc.Arbitrary<UserId> }).map((data) => ({ type: 'user.deleted' as const, data })),
  fc.tuple(marked, text).map(([data, title]) => ({
    type: 'article.drafted' as const,
    data: { ...data, title, body: title, tags: [], cover: null },
  })),
  fc
    .tuple(marked, text)
    .map(([data, title]) => ({ type: 'article.edited' as const, data: { ...data, title } })),
  fc
    .tuple(
      marked,
      fc.constantFrom(
        'article.published' as const,
        'article.unpublished' as const,
        'article.deleted' as const,
      ),
    )
    .map(([data, type]) => ({ type, data })),
  fc
    .tuple(comment, text, fc.constantFrom('comment.added' as const, 'comment.edited' as const))
    .map(([data, written, type]) => ({ type, data: { ...data, text: written } })),
  comment.map((data) => ({ type: 'comment.deleted' as const, data })),
  registration.map((data) => ({ type: 'webhook.registered' as const, data })),
  webhook.chain((data) =>
    fc.constantFrom(
      {
        type: 'webhook.changed' as const,
        data: { ...data, url: 'https://example.com/2', filter: { authorId: data.ownerId }, scopes: [] },
      },
      {
        type: 'webhook.changed' as const,
        data: { ...data, headers: { 'X-Team': 'red' }, description: null },
      },
      {
        type: 'webhook.disabled' as const,
        data: {
          ...data,
          reason: 'gone' as const,
          missed: { since: { log: null, position: 3 as Position }, at: METADATA.at },
        },
      },
      { type: 'webhook.enabled' as const, data: { ...data, scopes: ['read:comments' as const] } },
      {
        type: 'webhook.redrive_requested' as const,
        data: { ...data, redriveId: randomUUID(), since: null, until: null, retrying: false },
      },
      { type: 'webhook.deleted' as const, data },
    ),
  ),
) satisfies fc.Arbitrary<AnnalsEvent>;

/** Kinds of damage to a recorded event. PostgreSQL has no year 0, but RFC 3339 has. */
const DAMAGES: Readonly<Record<string, (whole: NewEvent) => NewEvent>> = {
  'unknown type': (whole) => ({ ...whole, type: 'article.eaten' }),
  'unknown field': (whole) => ({ ...whole, data: { ...whole.data, more: 1 } }),
  'no metadata': (whole) => ({ ...whole, metadata: {} }),
  'no content': (whole) => ({ ...whole, data: {} }),
  'a time that the database refuses': (whole) => ({
    ...whole,
    metadata: { ...whole.metadata, at: '0000-02-03T04:05:06.000Z' },
  }),
};

/** Rare, so that streams grow before they are damaged. */
const fate = fc.oneof(
  { weight: 12, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.constantFrom(...Object.keys(DAMAGES)) },
);
const history = fc.array(
  fc.record<Happened>({
    event,
    fate,
    isSkipped: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
    endsBatch: fc.boolean(),
  }),
  { minLength: 1, maxLength: 60 },
);

/** One of each damage, so that chance leaves none out. */
const examples = Object.keys(DAMAGES).map((fate): [Happened[]] => {
  const registered = {
    type: 'user.registered',
    data: { userId: 1 as UserId, name: 'one', role: 'author', email: null },
  } as const;
  return [[{ event: registered, fate, isSkipped: false, endsBatch: false }]];
});

test('however the log is cut into batches, and whatever events are damaged, the final read model is the same', async () => {
  const parkedBy = new Set<string>();
  await fc.assert(
    fc.asyncProperty(history, async (happened) => {
      const recorded = await record(happened);
      await skipOnly(recorded.filter((_, n) => happened[n]?.isSkipped));
      const cuts = happened.flatMap(({ endsBatch }, n) => (endsBatch ? [n + 1] : []));
      const singly = await projected(
        'singly',
        recorded,
        recorded.map((_, n) => n + 1),
      );
      expect(await projected('at_once', recorded, [])).toEqual(singly);
      expect(await projected('in_batches', recorded, cuts)).toEqual(singly);
      const { rows } = await pool.query<{ reason: string }>('select reason from singly.parked');
      for (const { reason } of rows)
        parkedBy.add(/SQLSTATE 22008|unknown type|malformed|foreign_record/.exec(reason)?.[0] ?? reason);
    }),
    { numRuns: 50, examples },
  );
  expect([...parkedBy].sort()).toEqual(['SQLSTATE 22008', 'foreign_record', 'malformed', 'unknown type']);
});

type Happened = {
  readonly event: AnnalsEvent;
  readonly fate: string | null;
  readonly isSkipped: boolean;
  readonly endsBatch: boolean;
};

const record = async (happened: readonly Happened[]): Promise<readonly RecordedEvent[]> => {
  const versions = new Map<string, number>();
  return Promise.all(
    happened.map(async ({ event, fate }, n) => {
      const stream = streamOf(event);
      const version = (versions.get(stream) ?? 0) + 1;
      versions.set(stream, version);
      const whole = await codec.encode(event, METADATA, randomUUID() as EventId, stream);
      const damaged = fate === null ? whole : (DAMAGES[fate]?.(whole) ?? whole);
      return {
        ...damaged,
        stream,
        version: version as Version,
        position: (n + 1) as Position,
        recordedAt: new Date(),
      };
    }),
  );
};

const streamOf = ({ data }: AnnalsEvent) => {
  if ('commentId' in data) return streamName('comment', data.commentId);
  if ('webhookId' in data) return streamName('webhook', data.webhookId);
  if ('articleId' in data) return streamName('article', data.articleId);
  return streamName('user', 'userId' in data ? Number(data.userId) : 0);
};

const skipOnly = async (events: readonly RecordedEvent[]): Promise<void> => {
  await pool.query('truncate public.projection_skip');
  for (const { stream, version, position } of events)
    await pool.query(`insert into public.projection_skip values ($1, $2, $3, 'a test')`, [
      stream,
      version,
      position,
    ]);
};

/** Projects into an empty read model, with a batch up to each cut. */
const projected = async (schema: string, events: readonly RecordedEvent[], cuts: readonly number[]) => {
  await pool.query(
    ['users', 'articles', 'comments', 'webhooks', 'departed', 'removed', 'parked']
      .map((table) => `truncate ${schema}.${table}`)
      .join(';'),
  );
  let from = 0;
  for (const to of [...cuts, events.length]) {
    await inTransaction(pool, async (connection) => {
      await useReadModel(connection, schema);
      await project(connection, { codec, tables }, events.slice(from, to));
    });
    from = to;
  }
  return digestOf(pool, schema);
};
