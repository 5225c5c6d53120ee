import type { UserId, Version } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Codec } from '#shared/events/codec.ts';

type Profile = { readonly name?: string; readonly email?: string };
/** The current profile, or that at a version of the person's stream. */
export type ReadProfile = (userId: UserId, at?: Version) => Promise<Profile>;

/**
 * Name and e-mail address exist only in the person's own stream, encrypted; each request reads them there.
 */
export const createReadProfile =
  ({ eventLog, codec }: { eventLog: EventLog; codec: Codec }): ReadProfile =>
  async (userId, at) => {
    let profile: { name?: string | null | undefined; email?: string | null | undefined } = {};
    for await (const page of eventLog.read(streamName('user', userId))) {
      for (const { type, data } of await codec.decodeAll(
        page.filter(({ version }) => at === undefined || version <= at),
      )) {
        if (type === 'user.registered' || type === 'user.updated') profile = { ...profile, ...data };
        if (type === 'user.deleted') profile = {};
      }
    }
    const { name, email } = profile;
    return { ...(typeof name === 'string' && { name }), ...(typeof email === 'string' && { email }) };
  };
