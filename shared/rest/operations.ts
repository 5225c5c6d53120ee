import { later } from '#kernel/base/later.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import { HISTORY_OPERATIONS, WEBHOOK_HISTORY_OPERATIONS } from '#kernel/base/rest/history-operations.ts';
import { isOfLog, type RestOperation } from '#kernel/base/rest/operation.ts';
import { READS_OF_USER_OPERATIONS } from '#kernel/base/rest/readers-operations.ts';
import { logsReads } from '#kernel/registry/logs-reads.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { aggregateOf } from '#kernel/rest/aggregate-operations.ts';
import type { AggregateOperation } from '#kernel/rest/operation.ts';
import { aggregateOperations } from '#kernel/rest/operations.ts';
import type { ViewOperation } from '#kernel/rest/views.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { erasureReadsOf } from './erasure-operations.ts';
import { EVENT_OPERATIONS, eventOperations } from './event-operations.ts';
import { EVENT_TYPE_OPERATIONS } from './event-type-operations.ts';
import { operatorOperationsOf } from './operator-operations.ts';
import { recordedEventOperationsOf } from './recorded-event-operations.ts';
import { userReadsOf } from './user-operations.ts';

/** The operations of parts, by the part; loaded where it is served. */
export const OPERATIONS_OF_PARTS = {
  accounts: later('The module of the operations of accounts', () => import('./of-accounts.ts')),
  webhooks: later('The module of the operations of webhooks', () => import('./of-webhooks.ts')),
  proof: later('The module of the operations of the proof', () => import('./of-proof.ts')),
} as const;

/** Loaded for a domain with views. */
export const VIEW_OPERATIONS = later(
  'The module of the operations of views',
  () => import('#kernel/rest/views.ts'),
);

/** The operations of the kernel on the log, by operation id. */
const kernelOperationsOf = (domain: Domain) => {
  const { webhooks, proof } = OPERATIONS_OF_PARTS;
  const hasWebhooks = serves(domain, 'webhooks');
  return {
    ...erasureReadsOf(domain),
    ...EVENT_OPERATIONS,
    ...recordedEventOperationsOf(domain),
    ...EVENT_TYPE_OPERATIONS,
    ...HISTORY_OPERATIONS,
    ...(logsReads(domain) && READS_OF_USER_OPERATIONS),
    ...(hasWebhooks && WEBHOOK_HISTORY_OPERATIONS),
    ...(serves(domain, 'proof') && proof.module.operationsOfProof(domain)),
    ...(hasWebhooks && webhooks.module.operationsOfWebhooks(domain)),
    ...operatorOperationsOf(domain),
  } as const satisfies Record<string, RestOperation>;
};

type KernelOperationsNow = ReturnType<typeof kernelOperationsOf> & ReturnType<typeof userReadsOf>;
/** Includes those of parts that this installation may lack. */
export type KernelOperations = Required<KernelOperationsNow>;
export type KernelOperationId = keyof KernelOperations;
/** The operations of every installation. */
export type CoreOperationId = {
  [Id in KernelOperationId]: undefined extends KernelOperationsNow[Id] ? never : Id;
}[KernelOperationId];

type KernelOperation = RestOperation & { readonly of: 'kernel' };

/** An operation, and what it is an operation of. */
export type AnyOperation =
  | KernelOperation
  | (AggregateOperation & { readonly of: 'aggregate' })
  | (ViewOperation & { readonly of: 'view' });

/** The REST interface, by operation id: the content of `/openapi.json`. */
export type Operations = Readonly<Record<CoreOperationId, KernelOperation> & Record<string, AnyOperation>>;

export const operationsOf = oncePer((domain: Domain): Operations => makeOperations(domain));

const makeOperations = (domain: Domain): Operations => {
  const ofKinds = aggregateOperations(domain);
  const users = userReadsOf(domain);
  const own = {
    ...users,
    ...kernelOperationsOf(domain),
    ...(serves(domain, 'accounts') && OPERATIONS_OF_PARTS.accounts.module.operationsOfAccounts(domain)),
    ...eventOperations(catalogueOf(domain), serves(domain, 'streams')),
    ...messagesOf(domain),
  };
  // The declaration refuses aggregates and views with the id of another operation.
  const views: Readonly<Record<string, ViewOperation>> =
    domain.views.length === 0 ? {} : Object.fromEntries(VIEW_OPERATIONS.module.viewOperations(domain));
  return {
    ...allOf('aggregate', { ...ofKinds, ...aggregateUsers(domain, users.listUsers) }),
    ...allOf('view', views),
    ...allOf('kernel', own),
  };
};

/** The messages of senders, and the list of refused ones, if the inbox is served. */
const messagesOf = (domain: Domain): Readonly<Record<string, RestOperation>> =>
  Object.fromEntries(
    serves(domain, 'inbox')
      ? (domain.senders ?? []).flatMap(({ operationId, operation, listing }) => [
          [operationId, operation],
          ['listRefusedMessages', listing],
        ])
      : [],
  );

const aggregateUsers = (
  domain: Domain,
  list: RestOperation,
): Readonly<Record<string, AggregateOperation>> => {
  const { user } = domain.kinds;
  if (user === undefined || !serves(domain, 'aggregates')) return {};
  return Object.fromEntries([
    aggregateOf(domain, ['listUsers', { ...list, use: { kind: user, does: 'list' } }]),
  ]);
};

const allOf = <Of extends string, All extends Readonly<Record<string, RestOperation>>>(of: Of, all: All) =>
  Object.fromEntries(Object.entries(all).map(([id, operation]) => [id, { ...operation, of }])) as {
    readonly [Id in keyof All]: All[Id] & { readonly of: Of };
  };

/** The operations on resources of the log; the authorization server serves its own. */
export const resourcesOf = (domain: Domain): readonly RestOperation[] =>
  Object.values(operationsOf(domain)).filter(isOfLog);

/** The operations on the aggregates of the domain. */
export const ofAggregates = (
  domain: Domain,
): readonly (readonly [id: string, operation: AggregateOperation])[] =>
  Object.entries(operationsOf(domain)).flatMap(([id, operation]) =>
    operation.of === 'aggregate' ? [[id, operation] as const] : [],
  );

export const ofViews = (domain: Domain): readonly (readonly [id: string, operation: ViewOperation])[] =>
  Object.entries(operationsOf(domain)).flatMap(([id, operation]) =>
    operation.of === 'view' ? [[id, operation] as const] : [],
  );
