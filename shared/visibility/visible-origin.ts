import type { UserId } from '#kernel/base/brands.ts';
import type { Actor, Origin } from '#kernel/base/events/metadata.ts';
import { type Caller, may, type Resource } from '#shared/policy.ts';

/**
 * The origin of an event as a caller sees it who may see the event: the actor. The actor themself and
 * administrators also see client, request and cause.
 */
export const visibleOrigin = (caller: Caller, origin: Origin): Pick<Origin, 'actor'> & Partial<Origin> =>
  may(caller, 'events.trace', resourceOf(origin.actor)) ? origin : { actor: origin.actor };

/** The user who acted; undefined for the system and unknown actors. */
export const userOf = (actor: Actor): UserId | undefined => {
  const [, id] = /^user:(\d+)$/.exec(actor) ?? [];
  return id === undefined ? undefined : (Number(id) as UserId);
};

const resourceOf = (actor: Actor): Resource => ({ fields: { owner: userOf(actor) } });
