import { streamName } from '#kernel/base/events/streams.ts';
import type { Operation } from '#kernel/base/operation.ts';
import { operationOf } from '#kernel/conditions/rights.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import { staysWhenEnded } from '#kernel/registry/stays-when-ended.ts';
import { admitByScope, type Caller, mayAlways } from '#shared/policy.ts';
import type { Past } from './past.ts';

/**
 * Auditors are administrators who may read the feed. They see former states, even of aggregates that are not
 * or no longer readable for them.
 */
export const isAuditor = (caller: Caller, right: Operation): boolean =>
  admitByScope(caller, right) === 'allowed' && mayAlways(caller, 'events.trace') && mayAlways(caller, right);

/**
 * Whether a former target of a reference is shown: to callers who may read it now too, and to auditors. A
 * deleted user keeps the row, so that those who may read every user still see that there was one.
 */
export const isSeenNowBy =
  ({ isReadable }: Pick<Past, 'isReadable'>, caller: Caller) =>
  async (kind: Kind, id: number): Promise<boolean> => {
    const right = operationOf(kind, 'read');
    return (
      (staysWhenEnded(kind) && mayAlways(caller, right)) ||
      isAuditor(caller, right) ||
      isReadable(caller, streamName(kind.name, id))
    );
  };
