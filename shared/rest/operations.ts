import type { Domain } from '#kernel/registry/registry.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { ARTICLE_OPERATIONS } from './articles.ts';
import { AUDIT_OPERATIONS } from './audit.ts';
import { CLIENT_OPERATIONS } from './clients.ts';
import { COMMENT_OPERATIONS } from './comments.ts';
import { DELIVERY_OPERATIONS } from './deliveries.ts';
import { ERASURE_OPERATIONS } from './erasure.ts';
import { EVENT_TYPE_OPERATIONS } from './event-types.ts';
import { EVENT_OPERATIONS, eventOperations } from './events.ts';
import { HISTORY_OPERATIONS } from './history.ts';
import type { RestOperation } from './operation.ts';
import { OPERATOR_OPERATIONS } from './operator.ts';
import { USER_OPERATIONS } from './users.ts';
import { WEBHOOK_OPERATIONS } from './webhooks.ts';

/** The REST interface to what is in the log, by operation id. */
export const OPERATIONS = {
  ...USER_OPERATIONS,
  ...ERASURE_OPERATIONS,
  ...ARTICLE_OPERATIONS,
  ...COMMENT_OPERATIONS,
  ...EVENT_OPERATIONS,
  ...EVENT_TYPE_OPERATIONS,
  ...HISTORY_OPERATIONS,
  ...AUDIT_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...DELIVERY_OPERATIONS,
  ...OPERATOR_OPERATIONS,
} as const satisfies Record<string, RestOperation>;

/** With what only the domain says: which types of events there are to ask for. */
export const operationsOf = (domain: Domain): typeof OPERATIONS => ({ ...OPERATIONS, ...eventOperations(catalogueOf(domain)) });

export type OperationId = keyof typeof OPERATIONS;

/** All that `/openapi.json` tells of. */
export const DESCRIBED = { ...OPERATIONS, ...CLIENT_OPERATIONS } as const satisfies Record<string, RestOperation>;

export const describedOf = (domain: Domain): typeof DESCRIBED => ({ ...DESCRIBED, ...eventOperations(catalogueOf(domain)) });

export type DescribedId = keyof typeof DESCRIBED;
