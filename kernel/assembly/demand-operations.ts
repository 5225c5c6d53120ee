import type { Domain, Kind } from '../registry/registry.ts';
import { aggregateOperations } from '../rest/operations.ts';
import type { Sentences } from './refusals.ts';
import { WORDS } from './words.ts';

/** Refuses aggregates and views whose operations would have the id of another one. */
export function* demandOperations(domain: Domain): Sentences {
  const ofKinds = aggregateOperations(domain);
  for (const [id, { use }] of Object.entries(ofKinds))
    if (OPERATIONS_OF_THE_KERNEL.includes(id))
      yield `${use.kind.name}: the kernel has an operation ${id} of its own: ${anotherName(use.kind)}.`;
  const ofViews = domain.views.length === 0 ? [] : WORDS.views.module.VIEWS.viewOperations(domain);
  for (const [id, { reads }] of ofViews)
    if (OPERATIONS_OF_THE_KERNEL.includes(id) || Object.hasOwn(ofKinds, id))
      yield `${reads.view.name}: there already is an operation ${id}: give the view another name.`;
}

/** Operations are named by the name and the plural, but GraphQL types by neither. */
const anotherName = ({ type }: Kind): string =>
  `give the aggregate another name or plural; \`names: { graphql: '${type}' }\` keeps its name in GraphQL`;

/** With all parts. A test compares this list with the served operations. */
export const OPERATIONS_OF_THE_KERNEL: readonly string[] = [
  'aggregateUsers createClient createPersonalToken createWebhook deactivateAccount deleteClient deleteWebhook',
  'disableWebhook editClient editWebhook enableWebhook endAccess endApplication endSession endSessions endTokenOfUser exportLog',
  'exportOwnData exportPerson',
  'getAccount getAuditStatus getClient getDelivery getDeliveryBody getErasureOfUser getEventProof getMe getOperations',
  'getOperationsSamples getOrder getRecordedEvent getReplay getUser getUserProof getWebhook getWebhookProof getWebhookStatistics invite',
  'listAttempts listAuditHeads listAuditKeys listClients listDeliveries listEventTypes listEvents',
  'listFailedDeliveries listHolds listInvitations listOrders listParkedConsequences listParkedItems listPersonalTokens',
  'listRefusedMessages listReplays listSchedules listTimers listUserHistory listUsers listWebhookHistory listWebhooks',
  'reactivateAccount redeliver',
  'redriveWebhook releaseParkedItem replaceClient replaceWebhook replayWebhook retryParkedItem revokeInvitation unlinkIdentity',
  'revokePersonalToken rotateClientSecret rotateWebhookSecret searchDeliveries testWebhook traceRecordedEvent',
  'verifyLog',
].flatMap((line) => line.split(' '));
