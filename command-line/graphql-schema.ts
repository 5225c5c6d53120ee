import { subgraphSdlOf } from '../query/graphql/federation/sdl.ts';
import type { Command } from './command.ts';

/** The schema of this release, which no setting changes. Services of GRAPHQL_COMPOSE are not in it. */
export const graphqlSchema: Command = {
  name: 'graphql schema',
  summary: 'Prints the GraphQL schema (SDL) as a subgraph of Federation 2, for gateways and code generators.',
  positionals: [],
  options: {},
  examples: ['graphql schema > annals.graphql'],
  run: (_given, terminal) => terminal.write(subgraphSdlOf(terminal.domain).trimEnd()),
};
