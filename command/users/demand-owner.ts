import type { UserId } from '#kernel/base/brands.ts';
import { Rejection, type RejectionCode } from '#kernel/base/rejection.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { States } from '../states.ts';
import { userStream, usersOf } from './user.ts';

/**
 * Demands that the future owner exists. A cached user counts as existing: if a deletion comes in between, the
 * process manager ends the new aggregate.
 */
export const demandOwner = async (
  dependencies: Dependencies,
  { ownerId, named, pointer }: Owner,
): Promise<void> => {
  const absence = await absenceOf(dependencies, ownerId);
  if (absence === undefined) return;
  // A named owner is a field of the command; otherwise the owner is the caller.
  throw named === undefined
    ? new Rejection(absence)
    : new Rejection('invalid_command', { errors: [{ pointer, detail: 'There is no such user.' }] });
};

type Dependencies = { readonly domain: Domain; readonly states: States };
/** `pointer` is the place of the named owner in the command. */
type Owner = { readonly ownerId: UserId; readonly named: UserId | undefined; readonly pointer: string };

const absenceOf = async (
  { domain, states }: Dependencies,
  userId: UserId,
): Promise<RejectionCode | undefined> => {
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
