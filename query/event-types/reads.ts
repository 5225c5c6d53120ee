import type { Reads } from '../read-routes.ts';
import { EVENT_TYPES } from './event-types.ts';

/** The same for everybody, and as long as this release runs. */
export const eventTypeReads: Reads<'listEventTypes'> = {
  listEventTypes: async () => ({ kind: 'list', items: EVENT_TYPES, links: { self: '/event-types' } }),
};
