import type { Confirmed, Domain, Kind } from './registry.ts';

/** The requests of agents; undefined in a domain in which no command has `confirm`. */
export const agentRequestsOf = ({ kinds }: Domain): AgentRequests | undefined =>
  Object.values(kinds).find(isOfAgents);

export type AgentRequests = Kind & { readonly confirms: readonly Confirmed[] };

const isOfAgents = (kind: Kind): kind is AgentRequests => kind.confirms !== undefined;
