import { randomUUID } from 'node:crypto';
import { logsReads } from '#kernel/registry/logs-reads.ts';
import type { Domain, Row } from '#kernel/registry/registry.ts';
import { operationsOf } from '#shared/rest/operations.ts';

/** The demand of a kernel operation beside its scope. Others’ things are as absent ones. */
type Needs = 'nothing' | 'token' | 'ownership' | 'administrator';
export type KernelRights = {
  readonly needs: Needs;
  readonly scope: string;
  /** Bodies by operation id; undefined for none. */
  readonly rest: Readonly<Record<string, Row | undefined>>;
  /** Arguments by root field. */
  readonly graphql: Readonly<Record<string, Row>>;
  /** The operation is tried on something absent, so callers with the right learn that. */
  readonly isAbsent?: true;
  /** Of something absent, instead of those that the other rows try. */
  readonly ids?: Row;
};

const reading = { scope: 'read:events', graphql: {} } as const;
/** Nothing listens there, and the events do not happen here. */
export const NEW_WEBHOOK = { url: 'http://127.0.0.1:9/', eventTypes: ['client.deleted'] };
const WHOLE_WEBHOOK = {
  ...{ ...NEW_WEBHOOK, description: null, filter: {}, payload: 'full', ordered: false },
  ...{ limits: { ratePerSecond: 1, concurrency: 1 }, headers: {} },
};
const ABSENT_ITEMS = { userId: 999_999_999, webhookId: 999_999_999 };
const now = (): string => new Date().toISOString();

/**
 * The rights to the kernel’s own operations, which no domain declares, written by hand a second time.
 * Deletions come last. `another` is the id of a user who is no caller.
 */
export const kernelRights = (domain: Domain, another: number): readonly KernelRights[] => [
  ...(logsReads(domain) ? [READS] : []),
  {
    ...{ needs: 'nothing', scope: '', rest: { listEventTypes: undefined, listAuditKeys: undefined } },
    graphql: { eventTypes: {}, cursor: {}, _service: {} },
  },
  {
    ...{ needs: 'token', ...reading, rest: { listEvents: undefined, getAuditStatus: undefined } },
    graphql: { auditStatus: {} },
  },
  {
    ...{ needs: 'token', ...reading, isAbsent: true },
    rest: { getRecordedEvent: undefined, traceRecordedEvent: undefined },
  },
  {
    ...{ needs: 'token', scope: 'manage:webhooks' },
    rest: {
      ...{ listWebhooks: undefined, searchDeliveries: undefined, listFailedDeliveries: undefined },
      createWebhook: NEW_WEBHOOK,
    },
    graphql: {
      webhooks: {},
      webhooksConnection: {},
      deliveriesConnection: {},
      registerWebhook: { input: NEW_WEBHOOK },
    },
  },
  {
    ...{ needs: 'administrator', scope: 'manage:webhooks' },
    rest: { createWebhook: { ...NEW_WEBHOOK, ownerId: another } },
    graphql: { registerWebhook: { input: { ...NEW_WEBHOOK, owner: String(another) } } },
  },
  { needs: 'ownership', scope: 'read:events', rest: { listWebhookHistory: undefined }, graphql: {} },
  {
    ...{ needs: 'ownership', scope: 'manage:webhooks' },
    rest: {
      ...{ getWebhook: undefined, getWebhookStatistics: undefined, listDeliveries: undefined },
      ...{ getDelivery: undefined, getDeliveryBody: undefined, listAttempts: undefined },
      ...{ listReplays: undefined, getReplay: undefined },
      ...{ replaceWebhook: WHOLE_WEBHOOK, editWebhook: { description: 'Edited.' } },
      ...{ rotateWebhookSecret: undefined, disableWebhook: undefined, enableWebhook: undefined },
      ...{ testWebhook: undefined, replayWebhook: { from: now() }, redriveWebhook: undefined },
      ...{ redeliver: undefined, deleteWebhook: undefined },
    },
    graphql: {
      ...{ webhook: {}, editWebhook: { changes: { description: 'Edited.' } }, rotateWebhookSecret: {} },
      ...{ disableWebhook: {}, enableWebhook: {}, testWebhook: {}, replayWebhook: { since: now() } },
      ...{ redeliver: {}, redriveWebhook: {}, deleteWebhook: {} },
    },
  },
  {
    ...{ needs: 'administrator', ...reading },
    rest: {
      ...{ exportLog: undefined, listAuditHeads: undefined, getOperations: undefined },
      ...{ getOperationsSamples: undefined, listParkedItems: undefined, listParkedConsequences: undefined },
      ...{
        listTimers: undefined,
        listSchedules: undefined,
        listHolds: undefined,
        listOrders: undefined,
        ...('listRefusedMessages' in operationsOf(domain) && { listRefusedMessages: undefined }),
      },
    },
  },
  {
    ...{ needs: 'administrator', ...reading, isAbsent: true },
    rest: { getOrder: undefined, getErasureOfUser: undefined, getEventProof: undefined },
  },
  {
    ...{ needs: 'administrator', ...reading, isAbsent: true },
    ...{ rest: { getUserProof: undefined, getWebhookProof: undefined }, ids: ABSENT_ITEMS },
  },
  {
    ...{ needs: 'administrator', scope: 'manage:operations', graphql: {}, rest: { verifyLog: undefined } },
  },
  {
    ...{ needs: 'administrator', scope: 'manage:operations', graphql: {}, isAbsent: true },
    rest: { retryParkedItem: undefined, releaseParkedItem: { version: 1 } },
  },
];
/** Only of a domain that logs reads. */
const READS: KernelRights = {
  ...{ needs: 'administrator', scope: 'read:events', graphql: {}, rest: { listReadsOfUser: undefined } },
};
/** Nothing has these. */
export const absentIds = (): Row => ({ eventId: randomUUID(), orderId: randomUUID(), stream: 'user-999999' });
