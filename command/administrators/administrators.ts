import type { StreamName, UserId, Version } from '#shared/brands.ts';
import type { EventOf } from '#shared/events/catalogue.ts';
import { streamName } from '#shared/events/streams.ts';
import type { Decider } from '../decider.ts';

/**
 * One stream for all administrators keeps at least one of them without a lock:
 *
 * 1. Whoever is about to leave (a deletion, another role) is announced here first, naming the version that the append to their
 *    own stream will expect. The announcement expects the version of this stream at which somebody else was seen to stay.
 * 2. Whoever is announced at the version that their stream still has does not count as staying: the append may be on its way.
 * 3. If nobody else is left, the fence `AbandonEmail` moves that stream on, so that the late append fails and they stay.
 *
 * So a crash between the steps leaves nothing worse than an announcement to be fenced off. Appointments are announced as well,
 * for the list of those to look at; what counts is the stream of each.
 */
export const ADMINISTRATORS: StreamName = streamName('administrators', 'all');

/** Names one announcement for the fence. */
export const announcementName = (userVersion: Version): string => `${ADMINISTRATORS}@${userVersion}`;

export type AdministratorEvent = EventOf<'administrator.appointed' | 'administrator.leaving'>;

export type Leaving = { readonly userVersion: Version; readonly at: string };

/** Everybody who was ever announced, with the latest announcement that they leave. */
export type AdministratorsState = { readonly announced: Readonly<Record<string, Leaving | null>> };

export type AdministratorCommand =
  | { readonly type: 'Appoint'; readonly userId: UserId }
  /** `userVersion` is what the append to the user's stream will expect. */
  | { readonly type: 'Leave'; readonly userId: UserId; readonly userVersion: Version; readonly at: string };

export const administrators: Decider<AdministratorsState, AdministratorCommand, AdministratorEvent> = {
  initial: { announced: {} },

  decide(command, { announced }) {
    const { userId } = command;
    const known = announced[userId];
    switch (command.type) {
      case 'Appoint':
        return known === undefined ? [{ type: 'administrator.appointed', data: { userId } }] : [];
      case 'Leave': {
        const { userVersion, at } = command;
        // Since the announcement they have not counted as staying, so that nobody has left because of them.
        if (known && known.userVersion >= userVersion) return [];
        return [{ type: 'administrator.leaving', data: { userId, userVersion, at } }];
      }
    }
  },

  evolve({ announced }, event) {
    switch (event.type) {
      case 'administrator.appointed':
        return { announced: { ...announced, [event.data.userId]: announced[event.data.userId] ?? null } };
      case 'administrator.leaving': {
        const { userId, userVersion, at } = event.data;
        return { announced: { ...announced, [userId]: { userVersion, at } } };
      }
    }
  },
};
