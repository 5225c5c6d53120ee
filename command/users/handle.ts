import type { UserId } from '#shared/brands.ts';
import type { UpdateUser } from '#shared/commands/user.ts';
import type { MetadataContext } from '#shared/events/metadata.ts';
import { ACCOUNT_CLIENT_ID } from '#shared/policy.ts';
import { Rejection } from '#shared/rejection.ts';
import type { Target } from '../execute.ts';
import { demand, type HandlerDependencies, type HandlersOf, type Sent } from '../handler.ts';
import { tellsContent } from '../patch-content.ts';
import type { Known } from '../states.ts';
import { updateByPatch } from './patch.ts';
import { type UserEvent, type UserState, user, userStream } from './user.ts';

type UserTarget = Target<UserState, UserEvent>;

export const userHandlers = ({
  executor,
  claims,
  administrators,
}: HandlerDependencies): HandlersOf<'RegisterUser' | 'UpdateUser' | 'PatchUser' | 'DeleteUser'> => ({
  RegisterUser: {
    operation: 'user.register',
    handle(command, { caller, circumstances }) {
      const targetOf = (id: number): UserTarget => {
        const userId = id as UserId;
        return {
          decider: user,
          stream: userStream(userId),
          decide(state) {
            demand(caller, 'user.register', { resource: {} });
            return user.decide({ ...command, userId }, state);
          },
          prepare: announce({ claims, administrators }, { userId, caller, metadata: circumstances.metadata }),
        };
      };
      return executor.create(targetOf, circumstances);
    },
  },
  UpdateUser: {
    operation: 'user.update',
    async handle(command, { caller, circumstances }) {
      const { userId } = command;
      const target: UserTarget = {
        decider: user,
        stream: userStream(userId),
        decide(state) {
          demandUpdate(command, state, caller);
          return protectAddress(user.decide(command, state), caller);
        },
        prepare: announce({ claims, administrators }, { userId, caller, metadata: circumstances.metadata }),
      };
      return { id: userId, ...(await executor.change(target, circumstances)) };
    },
  },
  PatchUser: {
    operation: 'user.update',
    async handle(command, { caller, circumstances }) {
      const { userId } = command;
      const target: UserTarget = {
        decider: user,
        stream: userStream(userId),
        decide(state) {
          demand(caller, 'user.update', { resource: { fields: { id: userId } } });
          if (tellsContent(command.patch)) demand(caller, 'user.read_private', { resource: { fields: { id: userId } } });
          const update = updateByPatch(command, state);
          demandUpdate(update, state, caller);
          return protectAddress(user.decide(update, state), caller);
        },
        prepare: announce({ claims, administrators }, { userId, caller, metadata: circumstances.metadata }),
      };
      return { id: userId, ...(await executor.change(target, circumstances)) };
    },
  },
  DeleteUser: {
    operation: 'user.delete',
    async handle(command, { caller, circumstances }) {
      const { userId } = command;
      const target: UserTarget = {
        decider: user,
        stream: userStream(userId),
        decide(state) {
          demand(caller, 'user.delete', { resource: { fields: { id: userId } } });
          return user.decide(command, state);
        },
        prepare: announce({ claims, administrators }, { userId, caller, metadata: circumstances.metadata }),
      };
      return { id: userId, ...(await executor.change(target, circumstances)) };
    },
  },
});

/** A role that stays as it is may be named by everybody, so that a profile can be put back as it was got. */
const demandUpdate = ({ userId, role }: UpdateUser, state: UserState, caller: Sent['caller']): void => {
  demand(caller, 'user.update', { resource: { fields: { id: userId } } });
  const isOther = role !== undefined && !(state.status === 'active' && state.role === role);
  if (isOther) demand(caller, 'user.change_role', { resource: { fields: { id: userId } } });
};

/**
 * Whoever has the address can choose a new password by mail. So an application cannot change the one of the user for whom it acts, whatever
 * their role: only their account page can, where they have signed in just now.
 */
const protectAddress = (events: readonly UserEvent[], caller: Sent['caller']): readonly UserEvent[] => {
  if (caller.kind !== 'user' || caller.client === ACCOUNT_CLIENT_ID) return events;
  for (const { type, data } of events)
    if (type === 'user.updated' && data.email !== undefined && data.userId === caller.userId)
      throw new Rejection('email_changed_by_application');
  return events;
};

type Announcing = { readonly userId: UserId; readonly caller: Sent['caller']; readonly metadata: MetadataContext };

/**
 * What must be unique or must not run out is announced before the append, naming the version that it will expect: an address that
 * is used, and an administrator who comes or leaves.
 */
const announce =
  ({ claims, administrators }: Pick<HandlerDependencies, 'claims' | 'administrators'>, { userId, caller, metadata }: Announcing) =>
  async (events: readonly UserEvent[], { state, version: userVersion }: Known<UserState>): Promise<void> => {
    for (const event of events) {
      const email = event.type === 'user.registered' || event.type === 'user.updated' ? event.data.email : null;
      if (email) await claims.claim({ email, userId, userVersion }, metadata);
    }
    const before = rankOf(state);
    const after = rankOf(events.reduce(user.evolve, state));
    if (before === undefined) return after === undefined ? undefined : administrators.appoint(userId, metadata);
    if (before === after || (before === 'service' && after === 'person')) return undefined;
    const mayBeLast = caller.kind === 'system';
    return administrators.leave({ userId, userVersion, hasAddress: before === 'person', mayBeLast }, metadata);
  };

/** What kind of administrator somebody is: only who has an address can sign in. */
const rankOf = (state: UserState): 'person' | 'service' | undefined => {
  if (state.status !== 'active' || state.role !== 'admin') return undefined;
  return state.email === null ? 'service' : 'person';
};
