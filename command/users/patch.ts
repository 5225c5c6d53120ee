import { type PatchUser, type UpdateUser, UserContent } from '#shared/commands/user.ts';
import { patchContent } from '../json-patch.ts';
import type { UserState } from './user.ts';

/** The update that a JSON patch comes to. Where there is nobody to patch it changes nothing, and the decider says why. */
export const updateByPatch = ({ userId, patch }: PatchUser, state: UserState): UpdateUser => {
  if (state.status !== 'active' || state.name === null) return { type: 'UpdateUser', userId };
  const { name, email, role } = state;
  const content = patchContent(UserContent, { name, email, role }, patch);
  // A role that stays is not named, because to name one is a right of its own.
  return { type: 'UpdateUser', userId, name: content.name, email: content.email, ...(content.role !== role && { role: content.role }) };
};
