import { Router } from 'express';
import { openLive } from '../live/live.ts';
import type { QueryPart } from '../part.ts';
import { eventStreamRoutes } from './events.ts';
import { viewStreamRoutes } from './views.ts';

/** Server-sent events: `GET /events` and the lists of views, for clients that prefer them to pages. */
export const part: QueryPart = {
  links: [],
  revokes: true,
  async open(resources) {
    const live = await resources.once(openLive);
    const dependencies = { ...resources, ...(await resources.events()), ...live };
    return { instead: Router().use(eventStreamRoutes(dependencies), viewStreamRoutes(dependencies)) };
  },
};
