import { type PatchUser, type UpdateUser, UserContent } from '#shared/commands/user.ts';
import { changesByPatch } from '../patch-content.ts';
import type { UserState } from './user.ts';

const UNKNOWN = ['/createdAt', '/updatedAt', '/_links'] as const;

/** The update that a JSON patch comes to. Where there is nobody to patch it changes nothing, and the decider says why. */
export const updateByPatch = ({ userId, patch }: PatchUser, state: UserState): UpdateUser => {
  if (state.status !== 'active' || state.name === null) return { type: 'UpdateUser', userId };
  const { name, email, role } = state;
  const document = { content: { name, email, role }, fixed: { id: userId }, unknown: UNKNOWN };
  return { type: 'UpdateUser', userId, ...changesByPatch(UserContent, document, patch) };
};
