import type { UserId, Version } from '#shared/brands.ts';
import type { DecodedEvent } from '#shared/events/codec.ts';
import { sameAddress } from '#shared/same-address.ts';
import type { ReadProfile } from '../provider/profile.ts';
import { addressChangedMessage, addressGivenMessage } from './messages.ts';
import type { Post } from './post.ts';

type Updated = Pick<DecodedEvent<'user.updated'>, 'data' | 'version' | 'metadata'>;
type Dependencies = { readonly post: Post; readonly readProfile: ReadProfile };

/** A directory that is filled from the beginning of the log must not tell people of what is long past. */
const RECENT_MS = 60 * 60_000;

/**
 * Tells of another e-mail address, whoever changed it and by whichever interface: at the address of before, and at the new one
 * unless the owner gave it. It goes by the log, because the command role sends no mail.
 */
export const tellOfAddress = ({ post, readProfile }: Dependencies, { data, version, metadata }: Updated): void => {
  const { userId, email: to } = data;
  if (!post.isThere || to === undefined || Date.now() - Date.parse(metadata.at) > RECENT_MS) return;
  const before = () => readProfile(userId as UserId, (version - 1) as Version);
  post.send(async () => {
    const { name, email } = await before();
    return email === undefined || isSame(email, to) ? undefined : addressChangedMessage({ to: email, name });
  });
  if (to === null || metadata.actor === `user:${userId}`) return;
  post.send(async () => {
    const { name, email } = await before();
    return isSame(email, to) ? undefined : addressGivenMessage({ to, name });
  });
};

const isSame = (before: string | undefined, now: string | null): boolean =>
  before !== undefined && now !== null && sameAddress(before) === sameAddress(now);
