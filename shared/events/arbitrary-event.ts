import fc from 'fast-check';
import type { ArticleId, CommentId, UserId, Version } from '#shared/brands.ts';
import type { JsonObject } from '#shared/json.ts';
import type { AnnalsEvent, EventOf, EventType } from './catalogue.ts';
import * as fields from './fields.ts';

/** For property tests: values that the fields accept, odd ones among them. */
const ids = fc.oneof(
  fc.integer({ min: 1, max: 5 }),
  fc.maxSafeInteger().filter((id) => id > 0),
);
/** The brands are given here, to numbers that are ids. */
const userId = ids as fc.Arbitrary<UserId>;
const articleId = ids as fc.Arbitrary<ArticleId>;
const commentId = ids as fc.Arbitrary<CommentId>;
const version = fc.nat() as fc.Arbitrary<Version>;

const storable = (maxLength: number) =>
  fc.string({ unit: 'binary', maxLength }).filter((value) => fields.text(maxLength).safeParse(value).success);
const visible = (maxLength: number) => storable(maxLength).filter((value) => fields.visibleText(maxLength).safeParse(value).success);
const token = fc.string({ unit: fc.constantFrom(...'abcXYZ019-@.'), minLength: 1, maxLength: 20 });
const names = fc.array(token, { maxLength: 5 });
const json = fc.dictionary(storable(8), fc.jsonValue({ noUnicodeString: false })) as fc.Arbitrary<JsonObject>;
const timestamp = fc.date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true }).map((date) => date.toISOString());

export const arbitrary = {
  name: visible(100),
  email: fc.emailAddress().filter((value) => fields.email.safeParse(value).success),
  role: fc.constantFrom(...fields.ROLES),
  title: visible(200),
  body: storable(300),
  tags: fc.uniqueArray(fc.string({ unit: fc.constantFrom(...'ab0-'), minLength: 1, maxLength: 40 }), { maxLength: 10 }),
  cover: fc.option(fc.constantFrom('/uploads/one.png', 'https://example.com/two.jpg')),
  text: visible(300),
  timestamp,
} as const;

const { name, email, role, title, body, tags, cover, text } = arbitrary;
const user = { userId };
const article = { articleId, authorId: userId };
const comment = { commentId, articleId, authorId: userId };

/** A type that is missing here does not compile. */
const DATA: { readonly [Type in EventType]: fc.Arbitrary<EventOf<Type>['data']> } = {
  'user.registered': fc.record({ ...user, name, email: fc.option(email), role }),
  'user.updated': fc.record({ ...user, name, email: fc.option(email), role }, { requiredKeys: ['userId'] }),
  'user.deleted': fc.record(user),
  'user.email_abandoned': fc.record({ ...user, claim: token }),
  'article.drafted': fc.record({ ...article, title, body, tags, cover }),
  'article.edited': fc.record({ ...article, title, body, tags, cover }, { requiredKeys: ['articleId', 'authorId'] }),
  'article.published': fc.record(article),
  'article.unpublished': fc.record(article),
  'article.deleted': fc.record(article),
  'comment.added': fc.record({ ...comment, text }),
  'comment.edited': fc.record({ ...comment, text }),
  'comment.deleted': fc.record(comment),
  'email.claimed': fc.record({ userId, userVersion: version, at: timestamp }),
  'email.released': fc.record(user),
  'command.reserved': fc.record({ digest: token, seed: token, at: timestamp, by: token }),
  'command.completed': fc.record({ digest: token, outcome: json, at: timestamp }),
  'session.signed_in': fc.record({ sessionId: token, userId, method: token }),
  'session.sign_in_failed': fc.record({ sessionId: token, userId: fc.option(userId), attempts: fc.integer({ min: 1 }) }),
  'session.signed_out': fc.record({ sessionId: token, userId }),
  'grant.consented': fc.record({ grantId: token, userId, clientId: token, scopes: names }),
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
};

/** The type and the data come from one line of the table. */
export const arbitraryEvent = fc.oneof(
  ...Object.entries(DATA).map(([type, data]) => fc.record({ type: fc.constant(type), data: data as fc.Arbitrary<unknown> })),
) as fc.Arbitrary<AnnalsEvent>;
