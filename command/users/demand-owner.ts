import type { Domain } from '#kernel/registry/registry.ts';
import type { UserId } from '#shared/brands.ts';
import { Rejection, type RejectionCode } from '#shared/rejection.ts';
import type { States } from '../states.ts';
import { userStream, usersOf } from './user.ts';

/**
 * Demands that whoever is to be the owner is there. Whoever is remembered is taken to be there still:
 * what a deletion that comes between leaves behind is followed up by the process manager.
 */
export const demandOwner = async (seen: Seen, { ownerId, named, pointer }: Owner): Promise<void> => {
  const absence = await absenceOf(seen, ownerId);
  if (absence === undefined) return;
  // Whoever is named is a field of the command; whoever is not is the caller.
  throw named === undefined
    ? new Rejection(absence)
    : new Rejection('invalid_command', { errors: [{ pointer, detail: 'There is no such user.' }] });
};

type Seen = { readonly domain: Domain; readonly states: States };
/** `pointer` is where the command names them, if it does. */
type Owner = { readonly ownerId: UserId; readonly named: UserId | undefined; readonly pointer: string };

const absenceOf = async ({ domain, states }: Seen, userId: UserId): Promise<RejectionCode | undefined> => {
  const [users, stream] = [usersOf(domain), userStream(userId)];
  if (states.recall(users, stream)?.state.status === 'present') return undefined;
  const { state } = await states.load(users, stream);
  switch (state.status) {
    case 'absent':
      return 'user_not_found';
    case 'ended':
      return 'user_deleted';
    case 'present':
      return undefined;
  }
};
