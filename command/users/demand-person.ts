import type { UserId } from '#shared/brands.ts';
import { Rejection } from '#shared/rejection.ts';
import type { States } from '../states.ts';
import { user, userStream } from './user.ts';

/**
 * Demands that whoever is to be the author is there. Whoever is remembered is taken to be there still:
 * what a deletion that comes between leaves behind is followed up by the process manager.
 */
export const demandPerson = async (states: States, userId: UserId): Promise<void> => {
  const stream = userStream(userId);
  if (states.recall(user, stream)?.state.status === 'active') return;
  const { state } = await states.load(user, stream);
  switch (state.status) {
    case 'absent':
    case 'abandoned':
      throw new Rejection('user_not_found');
    case 'deleted':
      throw new Rejection('user_deleted');
    case 'active':
      return;
  }
};
