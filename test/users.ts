import { publishing } from '#domain/publishing.ts';
import type { UserId } from '#kernel/base/brands.ts';
import type { Role } from '#kernel/base/events/fields.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { EventOf } from '#shared/events/catalogue.ts';
import type { Decider } from '../command/decider.ts';
import { abandonEmail, usersOf } from '../command/users/user.ts';

type Content = { readonly name: string; readonly email: string | null; readonly role: Role };
type Of<Type extends string> = { readonly type: Type; readonly userId: UserId };

/** For one user, with the claim of an e-mail address, which nobody can send. */
export type UserCommand =
  | (Of<'RegisterUser'> & Content)
  | (Of<'UpdateUser'> & Partial<Content>)
  | Of<'DeleteUser'>
  | (Of<'AbandonEmail'> & { readonly claim: string });

export type UserEvent = EventOf<'user.registered' | 'user.updated' | 'user.deleted' | 'user.email_abandoned'>;

const rules = usersOf(publishing);

/** The rules of the users of publishing. */
export const user: Decider<AggregateState, UserCommand, UserEvent> = {
  ...rules,
  decide: (command, state) =>
    (command.type === 'AbandonEmail'
      ? abandonEmail(publishing, command.userId, command.claim, state)
      : rules.decide(command, state)) as readonly UserEvent[],
};
