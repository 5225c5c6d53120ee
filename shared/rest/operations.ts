import { ARTICLE_OPERATIONS } from './articles.ts';
import { COMMENT_OPERATIONS } from './comments.ts';
import { EVENT_OPERATIONS } from './events.ts';
import type { RestOperation } from './operation.ts';
import { USER_OPERATIONS } from './users.ts';

/** The whole REST interface by operation id. */
export const OPERATIONS = {
  ...USER_OPERATIONS,
  ...ARTICLE_OPERATIONS,
  ...COMMENT_OPERATIONS,
  ...EVENT_OPERATIONS,
} as const satisfies Record<string, RestOperation>;

export type OperationId = keyof typeof OPERATIONS;
