import type { UserId } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import { ACCOUNT_CLIENT_ID } from '#shared/policy.ts';
import type { Rules } from '../aggregates/rules.ts';
import type { HandlerDependencies } from '../handling/handler.ts';
import { profileOf, usersOf } from './user.ts';

export const userRules = ({
  domain,
  administrators,
}: Pick<HandlerDependencies, 'domain' | 'administrators'>): Rules => ({
  /**
   * The owner of the address can reset the password by mail. So an application cannot change the address of
   * the user for whom it acts, whatever the role: only the account page can, after a recent sign-in.
   */
  refuse(events, { caller }) {
    if (caller.kind !== 'user' || caller.client === ACCOUNT_CLIENT_ID) return;
    for (const { type, data } of events)
      if (type === 'user.updated' && data.email !== undefined && data.userId === caller.userId)
        throw new Rejection('email_changed_by_application');
  },
  /** Announces an appointed or leaving administrator, with the version that the append will expect. */
  announce(id, { caller, execution: { metadata } }) {
    const userId = id as UserId;
    return async (events, { state, version: userVersion }, { looksOnly }) => {
      const afterwards = events.reduce(usersOf(domain).evolve, state);
      if (domain.auditors === true) {
        const { demandLastDay } = await import('./auditors.ts');
        demandLastDay({ events, before: state, after: afterwards, at: metadata.at });
      }
      if (looksOnly) return undefined;
      const before = rankOf(state);
      const after = rankOf(afterwards);
      if (before === undefined)
        return after === undefined ? undefined : administrators.appoint(userId, metadata);
      if (before === after || (before === 'service' && after === 'person')) return undefined;
      const mayBeLast = caller.kind === 'system';
      return administrators.leave(
        { userId, userVersion, hasAddress: before === 'person', mayBeLast },
        metadata,
      );
    };
  },
});

/** The kind of administrator: only users with an address can sign in. */
const rankOf = (state: AggregateState): 'person' | 'service' | undefined => {
  const profile = profileOf(state);
  if (profile?.role !== 'admin') return undefined;
  return profile.email === null ? 'service' : 'person';
};
