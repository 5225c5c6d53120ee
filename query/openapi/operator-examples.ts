import type { JsonObject } from '#kernel/base/json.ts';
import { exampleKind } from '#kernel/registry/example-kind.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { managedKindsOf } from '#kernel/webhook/managed-kinds.ts';

const AT = '2026-11-21T10:15:00.000Z';
const ORDER_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';

/** Like `EXAMPLES`, for the schemas of operators. */
export const operatorExamplesOf = (domain: Domain): Readonly<Record<string, JsonObject>> => {
  const [hasWebhooks, hasProof] = [serves(domain, 'webhooks'), serves(domain, 'proof')];
  const [ended = exampleKind(domain)] = managedKindsOf(domain);
  return {
    OperationsStatus: {
      at: AT,
      log: { cursor: '6f9619ff-15o' },
      readModel: {
        ...{ cursor: '6f9619ff-15o', behindSeconds: 0, parked: 1, skipped: 0, bytes: 1_081_344 },
        ...{ isOfThisRelease: true, rebuild: null },
      },
      followers: [{ name: 'projector', cursor: '6f9619ff-15o', behindSeconds: 0, isRunning: true }],
      consequences: { parked: 0, skipped: 0, oldestSeconds: null },
      ...(hasWebhooks && {
        webhooks: { endpoints: 3, enabled: 2, due: 4, dead: 0, failing: 1, failingSince: AT },
      }),
      _links: {
        self: { href: '/operations' },
        ...(hasProof && { verify: { href: '/audit/verifications', method: 'POST' } }),
      },
    },
    OperationsSamples: {
      everySeconds: 10,
      samples: [
        {
          at: AT,
          ...(hasProof && { events: 1440 }),
          followers: { projector: 0.02 },
          parked: 1,
          ...(hasWebhooks && { due: 4, dead: 0, deliveredPerSecond: 12.3 }),
        },
      ],
    },
    ParkedItem: {
      ...{ stream: 'user-1001', version: 2, type: 'user.renamed', cursor: '6f9619ff-15n', since: AT },
      reason: 'Event 2 of user-1001 at position 15 has the unknown type "user.renamed"',
      _links: {
        item: { href: '/users/1001' },
        retry: { href: '/operations/parked/user-1001/retry', method: 'POST' },
        release: { href: '/operations/parked/user-1001/release', method: 'POST' },
      },
    },
    ParkedConsequence: {
      ...{
        task: 'end',
        stream: `${ended.name}-6001`,
        cause: ORDER_ID,
        reason: `${ended.name}-6001 was changed during each of 12 attempts to end it.`,
        attempts: 3,
      },
      ...{ since: AT, nextAt: AT, skippedAt: null },
      _links: {
        item: { href: `/${ended.path}/6001` },
        history: { href: `/${ended.path}/6001/history` },
      },
    },
    RunningTimer: {
      ...{ stream: 'claim-8001', name: 'remind', cause: ORDER_ID, dueAt: AT, leftSeconds: null },
      _links: { item: { href: '/claims/8001' }, history: { href: '/claims/8001/history' } },
    },
    OpenHold: {
      ...{ stream: 'claim-8001', hold: 1, reason: 'Litigation 2026-117', placedBy: 1001, placedAt: AT },
      _links: { item: { href: '/claims/8001' }, history: { href: '/claims/8001/history' } },
    },
    ScheduleStatus: {
      ...{ name: 'nightly-report', cron: '30 2 * * *', timeZone: 'Europe/Berlin', nextAt: AT, lastAt: AT },
      ...{ state: 'done', commands: 1, failed: 0, reason: null, requestedBy: null, missedAt: null },
    },
    ...(serves(domain, 'inbox') && { RefusedMessage: refusedMessage(domain) }),
    NewRelease: { version: 2 },
    Order: {
      ...{ id: ORDER_ID, kind: 'release', stream: 'user-1001', version: 2, by: 'user:1001', state: 'done' },
      ...{ requestedAt: AT, startedAt: AT, finishedAt: AT },
      outcome: 'Version 2 of user-1001 was skipped permanently. user-1001 is in the read model again.',
      _links: { self: { href: `/operations/orders/${ORDER_ID}` } },
    },
  };
};

const refusedMessage = ({ senders }: Domain): JsonObject => ({
  ...{ id: ORDER_ID, at: AT, sender: senders?.[0]?.name ?? 'bank', code: 'invalid_signature' },
  ...{ reason: 'The signature does not match the body.', messageId: null, messageType: null },
  ...{ bytes: 512, sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' },
  request: '01J9Z3',
});
