import { isOptIn, type PartName } from '#kernel/registry/parts.ts';
import type { Part } from '#process/part.ts';

// Each part is a value without its code: a process loads what it serves.

/** Webhooks: endpoints that receive changes, their deliveries, and the role that sends them. */
export const webhooks = (): Part => ({
  name: 'webhooks',
  adds: {
    command: async () => (await import('./command/webhooks/part.ts')).part,
    query: async () => (await import('./query/webhooks/part.ts')).part,
    service: async () => (await import('./webhook-dispatcher/part.ts')).part,
    roles: async () => ({ 'webhook-dispatcher': () => import('./webhook-dispatcher/role.ts') }),
  },
});

/** Streams of server-sent events: the events as they happen, and the rows of views as they change. */
export const streams = (): Part => ({
  name: 'streams',
  adds: { query: async () => (await import('./query/streams/part.ts')).part },
});

/** The proof: the hash chain with its signed heads, continuous verification, exports, and their state. */
export const proof = (): Part => ({
  name: 'proof',
  adds: {
    projector: async () => (await import('./proof/part.ts')).part,
    query: async () => (await import('./proof/rest/part.ts')).part,
  },
});

/** GraphQL at `/graphql`: queries, mutations, subscriptions, and an editor for browsers. */
export const graphql = (): Part => ({
  name: 'graphql',
  adds: { query: async () => (await import('./query/graphql/part.ts')).part },
});

/** Aggregates: counts, sums and other measures of what lists contain, by groups. */
export const aggregates = (): Part => ({
  name: 'aggregates',
  adds: { query: async () => (await import('./query/aggregates/part.ts')).part },
});

/** The authorization server: sign-in, accounts, applications and their tokens. */
export const accounts = (): Part => ({
  name: 'accounts',
  adds: {
    issuer: async () => (await import('./auth/part.ts')).part,
    roles: async () => ({ auth: () => import('./auth/role.ts') }),
  },
});

/** The documentation of the interface at `/docs`. */
export const docs = (): Part => ({
  name: 'docs',
  adds: { query: async () => (await import('./site/part.ts')).part },
});

/** The console at `/console`, and the pages of one’s own webhooks. */
export const console = (): Part => ({
  name: 'console',
  adds: { query: async () => (await import('./console/part.ts')).part },
});

/**
 * Tools for agents at `/mcp`, by the Model Context Protocol: each command and each read that their user may do.
 */
export const mcp = (): Part => ({
  name: 'mcp',
  adds: { query: async () => (await import('./mcp/part.ts')).part },
});

/** The inbox: signed messages of the senders that the domain declares become commands. */
export const inbox = (): Part => ({
  name: 'inbox',
  adds: {
    command: async () => (await import('./inbox/part.ts')).part,
    query: async () => (await import('./inbox/query-part.ts')).part,
  },
});

/**
 * GraphQL over WebSocket, beside the streams of `graphql()`, for clients that speak nothing else. It is served only
 * where it is named.
 */
export const graphqlWebSockets = (): Part => ({ name: 'graphqlWebSockets', adds: {} });

/** One for each name of the kernel: the compiler refuses a missing one, and another. */
const EACH = {
  webhooks,
  streams,
  proof,
  graphql,
  aggregates,
  accounts,
  docs,
  console,
  mcp,
  inbox,
  graphqlWebSockets,
} satisfies Readonly<Record<PartName, () => Part>>;

/** Also those to opt into. */
export const EVERY_PART: readonly Part[] = Object.values(EACH).map((make) => make());

/** Everything that needs no opting in, as `npm start` serves it. */
export const ALL_PARTS: readonly Part[] = EVERY_PART.filter(({ name }) => !isOptIn(name));
