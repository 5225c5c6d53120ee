import type { Actor } from './stage.ts';

/**
 * The second actor of a role stands for those who own nothing here: it adds a case only beside the owner, or if
 * nobody owns the kind.
 */
export const isOfInterest = (
  { owner }: { readonly owner: Pick<Actor, 'role'> | undefined },
  { key, role }: Pick<Actor, 'key' | 'role'>,
): boolean => !key.endsWith(' 2') || owner === undefined || role === owner.role;
