import { expect, test } from 'vitest';
import type { Webhook, WebhookHealth } from '#shared/rest/webhook.ts';
import { conditionOf, remedyOf } from './condition.ts';

const NOW = '2026-11-21T12:00:00.000Z';
const HEALTH: WebhookHealth = {
  ...{
    lastSuccessAt: '2026-11-21T11:00:00.000Z',
    lastFailure: null,
    failingSince: null,
    failuresInRow: 0,
    pausedUntil: null,
  },
  ...{
    nextAttemptAt: null,
    attemptsLastDay: 1,
    failuresLastDay: 0,
    successRate: 1,
    backlog: { due: 0, oldestAt: null, dead: 0 },
  },
};
const FAILURE = { at: NOW, status: 503, reason: 'The receiver answered with status 503.' };

/** A webhook with the fields that its condition depends on. */
const conditionWith = (webhook: Partial<Webhook>, health: Partial<WebhookHealth> = {}) =>
  conditionOf({ enabled: true, health: { ...HEALTH, ...health }, ...webhook } as Webhook, Date.parse(NOW));

test.each<[string, Partial<Webhook>, Partial<WebhookHealth>, string, string]>([
  ['healthy', {}, {}, 'good', 'It accepts deliveries.'],
  ['nothing sent', {}, { lastSuccessAt: null }, 'plain', 'Nothing has been delivered yet.'],
  [
    'dead letters',
    {},
    { backlog: { due: 0, oldestAt: null, dead: 1 } },
    'warn',
    '1 earlier delivery used up all attempts.',
  ],
  ['paused', {}, { pausedUntil: NOW, lastFailure: FAILURE }, 'warn', 'All deliveries wait.'],
  ['missed events', { missedSince: '6f9619ff-1a0' }, {}, 'warn', 'It missed events while it was disabled.'],
  [
    'failing',
    {},
    { failingSince: '2026-11-21T09:00:00.000Z', failuresInRow: 7, lastFailure: FAILURE },
    'bad',
    'All 7 attempts failed in the last 3 h. The receiver answered with status 503.',
  ],
  ['disabled', { enabled: false, disabledReason: 'gone' }, {}, 'bad', '410 Gone'],
  [
    'disabled',
    { enabled: false, disabledReason: 'failing' },
    { lastFailure: FAILURE },
    'bad',
    'All attempts failed for days.',
  ],
  ['disabled', { enabled: false, disabledReason: 'owner' }, {}, 'plain', 'Nothing is sent.'],
])('%s is reported with its reason', (...[word, webhook, health, tone, says]) => {
  expect(conditionWith(webhook, health)).toMatchObject({ word, tone, says: expect.stringContaining(says) });
});

test.each([
  [null, 'The receiver did not respond.'],
  [301, 'Redirects are not followed.'],
  [401, 'Check the secret'],
  [404, 'Check the URL'],
  [418, 'Its response may give the reason.'],
  [500, 'webhook-id'],
  [503, 'overloaded'],
])('an answer of %s gets advice', (status, words) => {
  expect(remedyOf(status)).toContain(words);
});
