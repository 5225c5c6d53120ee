import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { EVENT_SCOPES } from '../../test/engines/policy.ts';
import { scopesLackedByAll, withheldOf } from './withheld.ts';

const catalogue = catalogueOf(publishing);

test('nothing is withheld from an administrator whose token had every scope', () => {
  expect(
    withheldOf(
      publishing,
      { eventTypes: ['*', ...catalogue.publicTypes], scopes: EVENT_SCOPES },
      { role: 'admin' },
    ),
  ).toEqual([]);
});

const PUBLIC_ALONE = [
  'article.published',
  'article.unpublished',
  'comment.added',
  'user.registered',
  'user.deleted',
];

test('public events are sent without a scope, and the rest is reported to lack it', () => {
  const [part, nothing, ...others] = withheldOf(
    publishing,
    { eventTypes: ['article.*', 'article.drafted', ...PUBLIC_ALONE], scopes: [] },
    { role: 'author' },
  );
  expect(part).toMatchObject({
    eventType: 'article.*',
    scope: 'read:articles',
    reason: expect.stringMatching(/^Only partly sent: .* read:articles\.$/),
  });
  expect(nothing).toMatchObject({
    eventType: 'article.drafted',
    scope: 'read:articles',
    reason: expect.stringMatching(/^Not sent: /),
  });
  expect(others).toEqual([]);
});

test('a scope that would reveal nothing to the owner is not reported as missing', () => {
  expect(
    withheldOf(publishing, { eventTypes: ['article.published'], scopes: [] }, { role: 'reader' }),
  ).toEqual([]);
  const reason = 'Not sent: the role of the owner, reader, does not allow reading these events.';
  for (const scopes of [[], EVENT_SCOPES])
    expect(withheldOf(publishing, { eventTypes: ['article.drafted'], scopes }, { role: 'reader' })).toEqual([
      { eventType: 'article.drafted', reason },
    ]);
});

test('all is withheld only if these scopes reveal none of it to anybody', () => {
  expect(
    scopesLackedByAll(publishing, {
      eventTypes: ['client.*', 'article.drafted'],
      scopes: ['manage:webhooks'],
    }),
  ).toEqual(['read:users', 'read:articles']);
  expect(
    scopesLackedByAll(publishing, { eventTypes: ['client.*', 'article.*'], scopes: ['manage:webhooks'] }),
  ).toEqual([]);
  expect(scopesLackedByAll(publishing, { eventTypes: ['client.*'], scopes: ['read:users'] })).toEqual([]);
});
