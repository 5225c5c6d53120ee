import type { Account, FindAccount } from 'oidc-provider';
import type { UserId } from '#kernel/base/brands.ts';
import type { Person } from '../persons/person-table.ts';
import type { ReadProfile } from './profile.ts';

export type FindPerson = (userId: UserId) => Promise<Person | undefined>;

/** The person whom oidc-provider knows by its `sub`; undefined after their deletion. */
export const createFindAccount =
  ({ findPerson, readProfile }: { findPerson: FindPerson; readProfile: ReadProfile }): FindAccount =>
  async (_ctx, sub): Promise<Account | undefined> => {
    const person = await findActive(findPerson, Number(sub));
    if (person === undefined) return undefined;
    return {
      accountId: sub,
      async claims(_use, scope) {
        const scopes = new Set(scope.split(' '));
        const wantsProfile = scopes.has('profile') || scopes.has('email');
        const { name, email } = wantsProfile ? await readProfile(person.userId) : {};
        return {
          sub,
          ...(scopes.has('profile') && { name, role: person.role }),
          // Nobody has shown that the address is theirs, so clients must not trust it as an identity.
          ...(scopes.has('email') && email !== undefined && { email, email_verified: false }),
        };
      },
    };
  };

const findActive = async (findPerson: FindPerson, userId: number): Promise<Person | undefined> => {
  if (!isUserId(userId)) return undefined;
  const person = await findPerson(userId);
  return person?.status === 'active' ? person : undefined;
};

export const isUserId = (userId: number): userId is UserId => Number.isSafeInteger(userId) && userId > 0;
