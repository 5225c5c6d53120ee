import { openLive } from '../live/live.ts';
import type { QueryPart } from '../part.ts';
import { openGraphql } from './service.ts';

/** `/graphql`: queries, mutations and subscriptions, and GraphiQL for browsers. */
export const part: QueryPart = {
  links: [{ rel: 'graphql', href: '/graphql', title: 'GraphQL: all data in one request' }],
  revokes: true,
  async open(resources) {
    const { graphql: settings, limits, dataDir } = resources.config;
    const live = await resources.once(openLive);
    const proofs = resources.proof?.proofsOf({ ...resources, ...resources.timeTravel });
    return openGraphql({
      ...{ ...resources, ...live, proofs, settings, dataDir },
      bodyBytesMax: limits.bodyBytesMax,
    });
  },
};
