import { spaced } from '#kernel/base/names.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { isHeld, isRelease } from '#kernel/decide/holds.ts';
import type { CommandInfo, Kind, Row } from '#kernel/registry/registry.ts';
import { isPerson } from '#shared/policy.ts';
import { loggedOf } from '#shared/read-log/noted.ts';
import type { Sent } from '../handling/execution-context.ts';
import { callersOf } from '../handling/execution-context.ts';

/** A second person releases a hold, and nothing that acts for one. */
export const demandPersonToRelease = (kind: Kind, command: CommandInfo, sent: Sent): void => {
  if (isRelease(kind, command) && !callersOf(sent).every(isPerson)) throw new Rejection('person_releases');
};

type Asked = { readonly kind: Kind; readonly fields: Row; mayRead(part: string): boolean };
type Hold = { readonly reason: string; readonly placedBy: number; readonly placedAt: string };

/**
 * Says who placed the hold that refuses a command, and why, if the caller may read that. Where reads of holds are
 * logged, only a read says it.
 */
export const sayingWhy =
  ({ kind, fields, mayRead }: Asked) =>
  (error: unknown): never => {
    const [hold, ...others] = (fields.holds ?? []) as readonly Hold[];
    const isOfOwn = isHeld(error, kind) && (error as Rejection).code === kind.refusals.unheld?.code;
    if (hold === undefined || !isOfOwn || loggedOf(kind, ['holds']) || !mayRead('readHolds')) throw error;
    const { code } = error as Rejection;
    const day = hold.placedAt.slice(0, 10);
    const more = others.length === 0 ? '' : `, and there are ${others.length} more`;
    throw new Rejection(
      code,
      { holds: others.length + 1, placedBy: hold.placedBy },
      {
        says: `The ${spaced(kind.name)} is under a hold, which user ${hold.placedBy} placed on ${day} for this reason: “${hold.reason}”${more}. It cannot be deleted until another person releases it.`,
        cause: error,
      },
    );
  };
