import { type Caller, mayByFacts } from '#shared/policy.ts';
import type { Change } from './change-stream.ts';
import { isPublic } from './who-may-know.ts';

/**
 * Whether a caller may know that it happened; what of its data they may see is another question. A change may be of another release,
 * through Kafka or the ledger of webhooks: a kind or a right that this release does not know is invisible.
 */
export const mayKnow = (caller: Caller, change: Pick<Change, 'type' | 'stream' | 'right' | 'resource'>): boolean =>
  isPublic(change) && mayByFacts(caller, change.right, change.resource);
