import type { UserId } from '#shared/brands.ts';
import type { Actor, Origin } from '#shared/events/metadata.ts';
import { type Caller, may, type Resource } from '#shared/policy.ts';

/**
 * Of who did something and how, what a caller gets to see who may know that it happened: who it was, and for
 * themself and administrators by which client, by which request, and because of what.
 */
export const visibleOrigin = (caller: Caller, origin: Origin): Pick<Origin, 'actor'> & Partial<Origin> =>
  may(caller, 'events.trace', resourceOf(origin.actor)) ? origin : { actor: origin.actor };

/** The user who did it; nobody where it was the system, or somebody unknown. */
export const userOf = (actor: Actor): UserId | undefined => {
  const [, id] = /^user:(\d+)$/.exec(actor) ?? [];
  return id === undefined ? undefined : (Number(id) as UserId);
};

const resourceOf = (actor: Actor): Resource => ({ fields: { owner: userOf(actor) } });
