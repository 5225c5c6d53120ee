import { serves } from '#kernel/registry/parts.ts';
import { type Live, openLive } from '../live/live.ts';
import type { PartResources, QueryPart } from '../part.ts';
import type { ExecutorOptions } from './executor.ts';
import { openGraphql } from './service.ts';

/** `/graphql`: queries, mutations and subscriptions, and GraphiQL for browsers. */
export const part: QueryPart = {
  links: [{ rel: 'graphql', href: '/graphql', title: 'GraphQL: all data in one request' }],
  apis: [
    {
      path: '/graphql',
      title: 'GraphQL',
      descriptions: [{ href: '/graphql/schema.graphql', type: 'text/plain', title: 'The schema of GraphQL' }],
      page: '/docs/graphql',
    },
  ],
  revokes: true,
  async open(resources) {
    const { graphql: settings, limits, dataDir, publicUrl, issuerUrl } = resources.config;
    const live = await resources.once(openLive);
    const proofs = resources.proof?.proofsOf({ ...resources, ...resources.timeTravel });
    return openGraphql({
      ...{ ...resources, ...live, proofs, settings, dataDir, urls: { publicUrl, issuerUrl } },
      aggregates: await aggregatesOf(resources),
      bodyBytesMax: limits.bodyBytesMax,
      openSockets: await socketsOf(resources, live),
    });
  },
};

/** Loaded only where groups are served. */
const aggregatesOf = async (resources: PartResources): Promise<ExecutorOptions['aggregates'] & {}> => {
  if (!serves(resources.domain, 'aggregates')) return {};
  const { openAggregates } = await import('../aggregates/aggregates.ts');
  const { ofAggregates } = await import('./resolvers/of-aggregates.ts');
  return ofAggregates(resources.domain, await resources.once(openAggregates));
};

/** Loaded only where sockets are served. */
const socketsOf = async (resources: PartResources, { streams }: Live): Promise<OpenSockets> => {
  if (!serves(resources.domain, 'graphqlWebSockets')) return undefined;
  const { openSockets } = await import('./sockets/sockets.ts');
  const { config } = resources;
  const options = {
    ...{ ...resources, streams },
    publicUrl: config.publicUrl,
    corsOrigins: config.corsOrigins ?? new Set<string>(),
    bufferBytesMax: config.streams.bufferBytesMax,
    messageBytesMax: config.limits.bodyBytesMax,
    initWithinMs: config.limits.headersTimeoutMs,
  };
  return (begin) => openSockets(options, begin);
};

type OpenSockets = Parameters<typeof openGraphql>[0]['openSockets'];
