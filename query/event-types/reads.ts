import type { Domain } from '#kernel/registry/registry.ts';
import type { Reads } from '../read-routes.ts';
import { eventTypesOf } from './event-types.ts';

/** The same for everybody, and as long as this release runs. */
export const eventTypeReads = (domain: Domain): Reads<'listEventTypes'> => ({
  listEventTypes: async () => ({ kind: 'list', items: eventTypesOf(domain), links: { self: '/event-types' } }),
});
