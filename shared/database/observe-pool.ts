import { Gauge, type Registry } from 'prom-client';
import type { Pool } from './pool.ts';

const pools = new WeakMap<Registry, Map<string, Pool>>();

/** Counts the working and idle connections of a pool, and the callers that wait for one. */
export const observePool = (registry: Registry, name: string, pool: Pool): void => {
  const known = pools.get(registry) ?? new Map<string, Pool>();
  if (known.size === 0) showAll(registry, known);
  pools.set(registry, known.set(name, pool));
};

const showAll = (registry: Registry, known: ReadonlyMap<string, Pool>): void => {
  new Gauge({
    name: 'annals_database_connections',
    help: 'Connections to the database by pool and state.',
    labelNames: ['pool', 'state'],
    registers: [registry],
    collect() {
      for (const [pool, { totalCount, idleCount }] of known) {
        this.set({ pool, state: 'busy' }, totalCount - idleCount);
        this.set({ pool, state: 'idle' }, idleCount);
      }
    },
  });
  new Gauge({
    name: 'annals_database_waiting',
    help: 'Statements and transactions that wait for a connection to the database, by pool.',
    labelNames: ['pool'],
    registers: [registry],
    collect() {
      for (const [pool, { callersWaiting }] of known) this.set({ pool }, callersWaiting);
    },
  });
};
