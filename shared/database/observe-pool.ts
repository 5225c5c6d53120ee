import { oncePer } from '#kernel/base/once-per.ts';
import { Gauge, type Registry } from '#shared/prometheus.ts';
import type { Pool } from './pool.ts';

/** Counts the working and idle connections of a pool, and the callers that wait for one. */
export const observePool = (registry: Registry, name: string, pool: Pool): void => {
  poolsOf(registry).set(name, pool);
};

/** The pools by name, which the metrics of a registry show. */
const poolsOf = oncePer((registry: Registry): Map<string, Pool> => {
  const known = new Map<string, Pool>();
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
  return known;
});
