import type { UserId } from '#shared/brands.ts';
import { PATHS } from '../pages/account/account-page.ts';
import type { ReadProfile } from '../provider/profile.ts';
import { signInMessage } from './messages.ts';
import type { Post } from './post.ts';

export type TellDependencies = {
  readonly post: Post;
  readonly readProfile: ReadProfile;
  readonly issuerUrl: string;
};

/** Tells somebody that how they sign in was changed, so that they learn of it where it was not them. */
export const tellOfChange = (
  { post, readProfile, issuerUrl }: TellDependencies,
  { userId }: { readonly userId: UserId },
  what: string,
  subject?: string,
): void =>
  post.send(async () => {
    const { name, email } = await readProfile(userId);
    const told = {
      name,
      what,
      accountUrl: `${issuerUrl}${PATHS.home}`,
      ...(subject !== undefined && { subject }),
    };
    return email === undefined ? undefined : signInMessage({ to: email, ...told });
  });
