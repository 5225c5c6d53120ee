import type { UserId, Version } from '#kernel/base/brands.ts';
import type { Role } from '#kernel/base/events/fields.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { leastRoleOf } from '#kernel/registry/roles.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import type { Codec } from '#shared/events/codec.ts';
import { MalformedEvent } from '#shared/events/errors.ts';

/** A person as the log has them. The table of persons is a copy of this, with a lag. */
export type PersonInLog = {
  readonly role: Role;
  readonly email: string | null;
  readonly isDeleted: boolean;
  /** Of the last event that says something of the above. */
  readonly version: Version;
};

/**
 * Reads the stream of a person, or only some of its events. Undefined if there is no such person.
 */
export type ReadPerson = (
  userId: UserId,
  isRead?: (event: Pick<RecordedEvent, 'position' | 'version'>) => boolean,
) => Promise<PersonInLog | undefined>;

type Dependencies = {
  readonly domain: Domain;
  readonly eventLog: Pick<EventLog, 'read'>;
  readonly codec: Codec;
};

/** Skips poison events, as the directory of persons does. */
export const createReadPerson = ({ domain, eventLog, codec }: Dependencies): ReadPerson => {
  const leastRole = leastRoleOf(domain);
  const dataOf = async (event: RecordedEvent): Promise<Changed | undefined> => {
    try {
      return (await codec.decodeAll([event]))[0]?.data as Changed | undefined;
    } catch (error) {
      if (error instanceof MalformedEvent) return undefined;
      throw error;
    }
  };
  return async (userId, isRead = () => true) => {
    let person: PersonInLog | undefined;
    for await (const page of eventLog.read(streamName('user', userId)))
      for (const event of page) {
        if (!isRead(event)) continue;
        const { type, version } = event;
        if (type === 'user.deleted') person = { role: '', email: null, isDeleted: true, version };
        if (person?.isDeleted || (type !== 'user.registered' && type !== 'user.updated')) continue;
        const data = await dataOf(event);
        if (data === undefined) continue;
        const { role = person?.role ?? leastRole, email = person?.email ?? null } = data;
        person = { role, email, isDeleted: false, version };
      }
    return person;
  };
};

type Changed = { readonly role?: Role; readonly email?: string | null };
