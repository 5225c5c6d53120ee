import { accounts, aggregates, console, docs, graphql, mcp, proof, start, streams, webhooks } from 'annals';

// `node main.ts` runs everything in one process, `node main.ts query` one role, and `node main.ts audit
// verify` a command for operators.
await start({
  domain: async () => (await import('./domain/domain.ts')).served,
  // Served beside REST. A part that you remove is not loaded either.
  parts: [webhooks(), streams(), proof(), graphql(), aggregates(), accounts(), docs(), console(), mcp()],
});
