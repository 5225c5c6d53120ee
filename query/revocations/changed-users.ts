import type { LastingAccess } from '#edge/authenticate/resource-server.ts';
import { attributesOf } from '#kernel/conditions/attributes.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';

/** The part of a change of a user that matters for their tokens. */
type UserEvent = Pick<Change, 'type' | 'data' | 'version' | 'at'>;

/** Revokes the tokens of users whose role or attributes have changed, and of deleted users. */
export const createRevokeChanged = (
  domain: Domain,
  { revokeUser }: Pick<LastingAccess, 'revokeUser'>,
): ((events: readonly UserEvent[]) => void) => {
  const watched = ['role', ...attributesOf(domain).map(({ wire }) => wire)];
  return (events) => {
    for (const { type, data, version, at } of events)
      if (
        type === 'user.deleted' ||
        (type === 'user.updated' && watched.some((name) => data[name] !== undefined))
      )
        revokeUser(Number(data.userId), { version, at: new Date(at) });
  };
};
