// Over 200 lines, because it is one table: data for every type of event.
import fc from 'fast-check';
import type { LogIdentity, Position, UserId, Version, WebhookId } from '#kernel/base/brands.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import * as values from '#kernel/base/values.ts';
import { DISABLED_REASONS, recordedPayload } from '#kernel/webhook/webhook-fields.ts';
import type { AnnalsEvent, EventOf, EventType } from '#shared/events/catalogue.ts';
import type { ArticleId, CommentId } from './publishing-ids.ts';

/** For tests that read events of publishing by name. */
type Article = { readonly articleId: ArticleId; readonly authorId: UserId };
type Content = {
  readonly title: string;
  readonly body: string;
  readonly tags: readonly string[];
  readonly cover: string | null;
};
type Comment = { readonly commentId: CommentId; readonly articleId: ArticleId; readonly authorId: UserId };

declare module '#shared/events/declared.ts' {
  interface DeclaredEvents {
    readonly 'article.drafted': Article & Content;
    readonly 'article.edited': Article & Partial<Content>;
    readonly 'article.published': Article;
    readonly 'article.unpublished': Article;
    readonly 'article.deleted': Article;
    readonly 'comment.added': Comment & { readonly text: string | null };
    readonly 'comment.edited': Comment & { readonly text: string | null };
    readonly 'comment.deleted': Comment;
  }
}

/** Values for property tests that the fields accept, including odd ones. */
const ids = fc.oneof(
  fc.integer({ min: 1, max: 5 }),
  fc.maxSafeInteger().filter((id) => id > 0),
);
/** Brands numbers as ids. */
const userId = ids as fc.Arbitrary<UserId>;
const articleId = ids as fc.Arbitrary<ArticleId>;
const commentId = ids as fc.Arbitrary<CommentId>;
const webhookId = ids as fc.Arbitrary<WebhookId>;
const version = fc.nat() as fc.Arbitrary<Version>;
const position = fc.nat() as fc.Arbitrary<Position>;

const storable = (maxLength: number) =>
  fc.string({ unit: 'binary', maxLength }).filter((value) => values.text(maxLength).safeParse(value).success);
const visible = (maxLength: number) =>
  storable(maxLength).filter((value) => values.visibleText(maxLength).safeParse(value).success);
const token = fc.string({ unit: fc.constantFrom(...'abcXYZ019-@.'), minLength: 1, maxLength: 20 });
const names = fc.array(token, { maxLength: 5 });
const json = fc.dictionary(storable(8), fc.jsonValue({ noUnicodeString: false })) as fc.Arbitrary<JsonObject>;
const timestamp = fc
  .date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());

export const arbitrary = {
  name: visible(100),
  email: fc.emailAddress().filter((value) => values.email.safeParse(value).success),
  role: fc.constantFrom('reader', 'author', 'admin'),
  title: visible(200),
  body: storable(300),
  tags: fc.uniqueArray(fc.string({ unit: fc.constantFrom(...'ab0-'), minLength: 1, maxLength: 40 }), {
    maxLength: 10,
  }),
  cover: fc.option(fc.constantFrom('/uploads/one.png', 'https://example.com/two.jpg')),
  text: visible(300),
  timestamp,
} as const;

const { name, email, role, title, body, tags, cover, text } = arbitrary;
const user = { userId };
const article = { articleId, authorId: userId };
const comment = { commentId, articleId, authorId: userId };
const webhook = { webhookId, ownerId: userId };
const scopes = fc.subarray(['read:users', 'manage:webhooks']);

const webhookContent = {
  url: fc.webUrl(),
  description: fc.option(storable(200)),
  eventTypes: fc.uniqueArray(fc.constantFrom('*', 'article.*', 'comment.added', 'user.email_abandoned'), {
    minLength: 1,
  }),
  filter: fc.record({ articleId, authorId: userId }, { requiredKeys: [] }),
  payload: fc.constantFrom(...recordedPayload.options),
  ordered: fc.boolean(),
  limits: fc.record({
    ratePerSecond: fc.integer({ min: 1, max: 1_000 }),
    concurrency: fc.integer({ min: 1, max: 50 }),
  }),
  headers: fc.dictionary(
    fc.constantFrom('X-Team', 'Authorization', 'constructor'),
    fc.constantFrom('blue', 'Bearer a b'),
    {
      noNullPrototype: true,
    },
  ),
};
const secret = fc
  .uint8Array({ minLength: 24, maxLength: 64 })
  .map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`);
const place = fc.record({
  log: fc.option(fc.uuid() as fc.Arbitrary<string> as fc.Arbitrary<LogIdentity>),
  position,
});
const missed = fc.option(fc.record({ since: place, at: timestamp }));

/** A missing type does not compile. */
const DATA: { readonly [Type in EventType]: fc.Arbitrary<EventOf<Type>['data']> } = {
  'user.registered': fc.record({ ...user, name, email: fc.option(email), role }),
  'user.updated': fc.record({ ...user, name, email: fc.option(email), role }, { requiredKeys: ['userId'] }),
  'user.deleted': fc.record(user),
  'user.email_abandoned': fc.record({ ...user, claim: token }),
  'article.drafted': fc.record({ ...article, title, body, tags, cover }),
  'article.edited': fc.record(
    { ...article, title, body, tags, cover },
    { requiredKeys: ['articleId', 'authorId'] },
  ),
  'article.published': fc.record(article),
  'article.unpublished': fc.record(article),
  'article.deleted': fc.record(article),
  'comment.added': fc.record({ ...comment, text }),
  'comment.edited': fc.record({ ...comment, text }),
  'comment.deleted': fc.record(comment),
  'webhook.registered': fc.record({ ...webhook, ...webhookContent, enabled: fc.boolean(), secret, scopes }),
  'webhook.changed': fc.record(
    { ...webhook, ...webhookContent, scopes },
    { requiredKeys: ['webhookId', 'ownerId'] },
  ),
  'webhook.secret_rotated': fc.record({ ...webhook, secret, oldSecretsEndAt: timestamp }),
  'webhook.enabled': fc.record({ ...webhook, scopes }),
  'webhook.disabled': fc.record({ ...webhook, reason: fc.constantFrom(...DISABLED_REASONS), missed }),
  'webhook.deleted': fc.record(webhook),
  'webhook.test_requested': fc.record({ ...webhook, testId: fc.uuid() }),
  'webhook.replay_requested': fc.record({
    ...{ ...webhook, replayId: fc.uuid(), missed },
    ...{ from: fc.option(place), to: place, time: fc.option(timestamp) },
  }),
  'webhook.redelivery_requested': fc.record({ ...webhook, redeliveryId: fc.uuid(), deliveryId: fc.uuid() }),
  'webhook.redrive_requested': fc.record({
    ...webhook,
    redriveId: fc.uuid(),
    since: fc.option(timestamp),
    until: fc.option(timestamp),
    retrying: fc.boolean(),
  }),
  'email.claimed': fc.record({ userId, userVersion: version, at: timestamp }),
  'email.released': fc.record(user),
  'administrator.appointed': fc.record(user),
  'administrator.leaving': fc.record({ userId, userVersion: version, at: timestamp }),
  'command.reserved': fc.record({ digest: token, seed: token, at: timestamp, by: token }),
  'command.completed': fc.record({ digest: token, outcome: json, at: timestamp }),
  'session.signed_in': fc.record({ sessionId: token, userId, method: token }),
  'session.sign_in_failed': fc.record({
    sessionId: token,
    userId: fc.option(userId),
    attempts: fc.integer({ min: 1 }),
  }),
  'session.signed_out': fc.record({ sessionId: token, userId }),
  'grant.consented': fc.record({ grantId: token, userId, clientId: token, scopes: names }),
  'token.exchanged': fc.record({
    ...{ grantId: token, userId, clientId: token, application: token },
    scopes: names,
  }),
  'grant.revoked': fc.record({ grantId: token, userId: fc.option(userId), clientId: fc.option(token) }),
  'grant.reuse_detected': fc.record({
    grantId: token,
    userId: fc.option(userId),
    clientId: fc.option(token),
    reused: fc.constantFrom('authorization_code' as const, 'refresh_token' as const, 'device_code' as const),
  }),
  'client.registered': fc.record({ clientId: token, selfRegistered: fc.boolean() }),
  'client.changed': fc.record({ clientId: token, changed: names }),
  'client.secret_rotated': fc.record({ clientId: token }),
  'client.deleted': fc.record({ clientId: token }),
  'account.password_changed': fc.record({
    userId,
    by: fc.constantFrom('password' as const, 'link' as const),
  }),
  'account.reset_requested': fc.record({ userId }),
  'account.reclaimed': fc.record({ userId }),
  'account.agent_ended': fc.record({ userId, clientId: token }),
  'account.agent_allowed': fc.record({ userId, clientId: token }),
  'account.identity_linked': fc.record({
    ...{ userId, identityId: token, upstream: token },
    by: fc.constantFrom('user' as const, 'email' as const, 'creation' as const),
  }),
  'account.identity_unlinked': fc.record({ userId, identityId: token, upstream: token }),
  'account.passkey_added': fc.record({ userId, passkeyId: token }),
  'account.passkey_removed': fc.record({ userId, passkeyId: token }),
  'account.passkey_refused': fc.record({ userId, passkeyId: token }),
  'account.token_created': fc.record({ userId, tokenId: token, scopes: names, expiresAt: timestamp }),
  'account.token_revoked': fc.record({ userId, tokenId: token }),
  'account.data_exported': fc.record({
    userId,
    format: fc.constantFrom('json' as const, 'html' as const),
  }),
  'account.deactivated': fc.record({ userId }),
  'account.reactivated': fc.record({ userId }),
  'account.second_factor_added': fc.record({ userId }),
  'account.second_factor_removed': fc.record({ userId }),
  'account.recovery_codes_renewed': fc.record({ userId }),
  'account.recovery_code_used': fc.record({ userId, left: fc.nat() }),
  'invitation.made': fc.record({ invitationId: token, role }),
  'invitation.accepted': fc.record({ invitationId: token, userId }),
  'invitation.revoked': fc.record({ invitationId: token }),
};

/** The type and the data come from one line of the table. */
export const arbitraryEvent = fc.oneof(
  ...Object.entries(DATA).map(([type, data]) =>
    fc.record({ type: fc.constant(type), data: data as fc.Arbitrary<unknown> }),
  ),
) as fc.Arbitrary<AnnalsEvent>;
