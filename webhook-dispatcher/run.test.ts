import { expect, test } from 'vitest';
import type { Version, WebhookId } from '#kernel/base/brands.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { Run, type RunSetting } from './run.ts';

const [FIRST, SECOND] = [1 as Version, 2 as Version];
const claim = {
  webhookId: 1 as WebhookId,
  version: SECOND,
  role: 'author',
  attributes: { team: 7 },
  ratePerSecond: 100,
  concurrency: 1,
};
const runOf = () =>
  new Run({ claim, breaker: {}, clock: REAL_TIME } as unknown as RunSetting, {
    claimedAtMs: performance.now(),
    isPlanned: true,
    isCrowded: () => false,
  });

test('a run accepts deliveries that were planned for the webhook and the owner as claimed', () => {
  const run = runOf();
  expect(run.offer({ deliveries: [] })).toBe(true);
  expect(run.offer({ deliveries: [], version: SECOND })).toBe(true);
  expect(
    run.offer({ deliveries: [], version: SECOND, standing: { role: 'author', attributes: { team: 7 } } }),
  ).toBe(true);
});

test.each([
  ['the webhook was changed', { version: FIRST }],
  ['the owner has another role', { standing: { role: 'reader', attributes: { team: 7 } } }],
  ['the owner has other attributes', { standing: { role: 'author', attributes: { team: 8 } } }],
  ['the owner has no attributes', { standing: { role: 'author' } }],
])('ends if %s', (_, planned) => {
  const run = runOf();
  expect(run.offer({ deliveries: [], ...planned })).toBe(false);
  expect(run.offer({ deliveries: [] })).toBe(false);
});
