import type { UserId } from '#shared/brands.ts';
import { Rejection, type RejectionCode } from '#shared/rejection.ts';
import type { States } from '../states.ts';
import { user, userStream } from './user.ts';

/**
 * Demands that whoever is to be the author, or the owner, is there. Whoever is remembered is taken to be there still:
 * what a deletion that comes between leaves behind is followed up by the process manager.
 */
export const demandAuthor = async (states: States, { authorId, named, pointer = '/authorId' }: Author): Promise<void> => {
  const absence = await absenceOf(states, authorId);
  if (absence === undefined) return;
  // Whoever is named is a field of the command; whoever is not is the caller.
  throw named === undefined
    ? new Rejection(absence)
    : new Rejection('invalid_command', { errors: [{ pointer, detail: 'There is no such user.' }] });
};

/** `pointer` is where the command names them, if it does. */
type Author = { readonly authorId: UserId; readonly named: UserId | undefined; readonly pointer?: string };

const absenceOf = async (states: States, userId: UserId): Promise<RejectionCode | undefined> => {
  const stream = userStream(userId);
  if (states.recall(user, stream)?.state.status === 'active') return undefined;
  const { state } = await states.load(user, stream);
  switch (state.status) {
    case 'absent':
    case 'abandoned':
      return 'user_not_found';
    case 'deleted':
      return 'user_deleted';
    case 'active':
      return undefined;
  }
};
