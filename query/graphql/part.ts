import type { QueryPart } from '../part.ts';
import { openGraphql } from './service.ts';

/** `/graphql`: queries, mutations and subscriptions, and GraphiQL for browsers. */
export const part: QueryPart = {
  links: [{ rel: 'graphql', href: '/graphql', title: 'GraphQL: all data in one request' }],
  open(resources) {
    const { graphql: settings, limits, dataDir } = resources.config;
    return openGraphql({ ...resources, settings, dataDir, bodyBytesMax: limits.bodyBytesMax });
  },
};
