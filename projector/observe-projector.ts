import { Counter, Gauge, type Registry } from 'prom-client';
import type { Pool } from '#shared/database/pool.ts';
import { orUnknown } from '#shared/follower/observe-follower.ts';
import { LIVE_SCHEMA } from '#shared/read-model/read-model.ts';

/** Tells what is left out of the read model, whoever projects. Answers with the counter of parkings by this process. */
export const observeProjector = ({ pool, metrics }: { pool: Pool; metrics: Registry }): Counter => {
  const counted = async (table: string): Promise<number> => {
    const { rows } = await pool.query<{ count: number }>(`select count(*) from ${table}`);
    return rows[0]?.count ?? 0;
  };
  new Gauge({
    name: 'annals_projector_parked',
    help: 'Aggregates that are out of the read model because one of their events could not be taken in.',
    registers: [metrics],
    async collect() {
      this.set(await orUnknown(() => counted(`${LIVE_SCHEMA}.parked`)));
    },
  });
  new Gauge({
    name: 'annals_projector_skipped',
    help: 'Events that are left out of the read model for good, by “projection release”.',
    registers: [metrics],
    async collect() {
      this.set(await orUnknown(() => counted('public.projection_skip')));
    },
  });
  return new Counter({ name: 'annals_projector_parkings_total', help: 'Aggregates that were parked.', registers: [metrics] });
};
