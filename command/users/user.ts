import type { StreamName, UserId } from '#shared/brands.ts';
import type { DeleteUser, RegisterUser, UpdateUser } from '#shared/commands/user.ts';
import type { EventOf } from '#shared/events/catalogue.ts';
import type { Role } from '#shared/events/fields.ts';
import { streamName } from '#shared/events/streams.ts';
import { Rejection } from '#shared/rejection.ts';
import type { Decider } from '../decider.ts';

export const userStream = (id: UserId): StreamName => streamName('user', id);

export type UserEvent = EventOf<'user.registered' | 'user.updated' | 'user.deleted' | 'user.email_abandoned'>;

export type UserState =
  | { readonly status: 'absent' }
  /** A claim made for the registration was given up before it came: the id is spent. */
  | { readonly status: 'abandoned'; readonly abandonedClaim: string }
  | ActiveUser
  | { readonly status: 'deleted' };

type ActiveUser = {
  readonly status: 'active';
  /** `null` once the key was destroyed. */
  readonly name: string | null;
  readonly email: string | null;
  readonly role: Role;
  readonly abandonedClaim: string | null;
};

export type UserCommand =
  | (RegisterUser & { readonly userId: UserId })
  | UpdateUser
  | DeleteUser
  /** The fence: once this is appended, an append that expects the version of the claim cannot succeed. */
  | { readonly type: 'AbandonEmail'; readonly userId: UserId; readonly claim: string };

export const user: Decider<UserState, UserCommand, UserEvent> = {
  initial: { status: 'absent' },

  decide(command, state) {
    switch (command.type) {
      case 'RegisterUser': {
        if (state.status !== 'absent') throw new Rejection('id_taken');
        const { userId, name, email, role } = command;
        return [{ type: 'user.registered', data: { userId, name, email, role } }];
      }
      case 'UpdateUser':
        return update(command, demandActive(state));
      case 'DeleteUser':
        if (state.status === 'deleted') return [];
        demandActive(state);
        return [{ type: 'user.deleted', data: { userId: command.userId } }];
      case 'AbandonEmail':
        return abandonEmail(command.userId, command.claim, state);
    }
  },

  evolve(state, event) {
    switch (event.type) {
      case 'user.registered': {
        const { name, email, role } = event.data;
        return { status: 'active', name, email, role, abandonedClaim: null };
      }
      case 'user.updated': {
        if (state.status !== 'active') return state;
        const { userId: _, ...changes } = event.data;
        return { ...state, ...changes };
      }
      case 'user.deleted':
        return { status: 'deleted' };
      case 'user.email_abandoned': {
        const abandonedClaim = event.data.claim;
        if (state.status === 'active') return { ...state, abandonedClaim };
        return state.status === 'deleted' ? state : { status: 'abandoned', abandonedClaim };
      }
    }
  },
};

const demandActive = (state: UserState): ActiveUser => {
  switch (state.status) {
    case 'absent':
    case 'abandoned':
      throw new Rejection('user_not_found');
    case 'deleted':
      throw new Rejection('user_deleted');
    case 'active':
      return state;
  }
};

const update = (command: UpdateUser, state: ActiveUser): readonly UserEvent[] => {
  // Without the key nothing more can be sealed for this person, so the deletion that is on its way counts as done.
  if (state.name === null) throw new Rejection('user_deleted');
  const { userId, name, email, role } = command;
  const changes = {
    ...(name === undefined || name === state.name ? {} : { name }),
    ...(email === undefined || email === state.email ? {} : { email }),
    ...(role === undefined || role === state.role ? {} : { role }),
  };
  return Object.keys(changes).length === 0 ? [] : [{ type: 'user.updated', data: { userId, ...changes } }];
};

const abandonEmail = (userId: UserId, claim: string, state: UserState): readonly UserEvent[] => {
  switch (state.status) {
    case 'absent':
      return [{ type: 'user.email_abandoned', data: { userId, claim } }];
    case 'abandoned':
    case 'active':
      return state.abandonedClaim === claim ? [] : [{ type: 'user.email_abandoned', data: { userId, claim } }];
    case 'deleted':
      // Nothing follows a deletion, so no fence is needed.
      return [];
  }
};
