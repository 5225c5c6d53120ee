import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import { plural } from '#shared/format.ts';
import type { HealthChecks } from '#shared/health-checks.ts';
import { NotReady } from '#shared/not-ready.ts';
import type { Parked } from './parked.ts';

type Watched = { readonly health: HealthChecks; readonly pool: Pick<Pool, 'query'> };

/** Shows parked aggregates at `/readyz`; the process works for all others, so that it stays ready. */
export const watchParked = ({ health, pool }: Watched): void =>
  health.add('parked items', () => demandNoneParked(pool), { isRequired: false });

type Oldest = Pick<Parked, 'stream' | 'version' | 'reason'> & { readonly total: number };

const demandNoneParked = async (pool: Watched['pool']): Promise<void> => {
  const { rows } = await pool.query<Oldest>(
    `select stream, version, reason, count(*) over () as total from ${LIVE_SCHEMA}.parked order by position limit 1`,
  );
  const [oldest] = rows;
  if (oldest === undefined) return;
  const { stream, version, reason, total } = oldest;
  const [, code = 'its event cannot be applied'] = /^([a-z]+_[a-z_]+): /.exec(reason) ?? [];
  throw new NotReady(
    `${plural(total, 'item is', 'items are')} parked, first ${stream} by its version ${version} (${code}): ` +
      '“npm run annals -- projection parked” says why.',
  );
};
