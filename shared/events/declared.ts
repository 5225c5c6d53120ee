import type { UserId } from '#kernel/base/brands.ts';
import type { Role } from '#kernel/base/events/fields.ts';

/**
 * For code that reads events of users by name: the shapes that follow from their declaration, with `null` for
 * erased fields.
 */
type User = { readonly userId: UserId };
type Profile = { readonly name: string | null; readonly email: string | null; readonly role: Role };

export interface DeclaredEvents {
  readonly 'user.registered': User & Profile;
  readonly 'user.updated': User & Partial<Profile>;
  readonly 'user.deleted': User;
  readonly 'user.email_abandoned': User & { readonly claim: string };
}
