import type { UserId } from '#kernel/base/brands.ts';
import { PATHS } from '../pages/account/account-page.ts';
import type { ReadProfile } from '../provider/profile.ts';
import { signInMessage } from './messages.ts';
import type { Post } from './post.ts';

export type NotifyDependencies = {
  readonly post: Post;
  readonly readProfile: ReadProfile;
  readonly issuerUrl: string;
};

/** Notifies a person of a change to how they sign in, so that they notice a change by somebody else. */
export const notifyOfChange = (
  { post, readProfile, issuerUrl }: NotifyDependencies,
  { userId }: { readonly userId: UserId },
  what: string,
  subject?: string,
): void =>
  post.send(async () => {
    const { name, email } = await readProfile(userId);
    const fields = {
      name,
      what,
      accountUrl: `${issuerUrl}${PATHS.home}`,
      ...(subject !== undefined && { subject }),
    };
    return email === undefined ? undefined : signInMessage({ to: email, ...fields });
  });
