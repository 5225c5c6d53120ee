import type pg from 'pg';
import { oncePer } from '#kernel/base/once-per.ts';
import { coalesce } from '../coalesce.ts';
import { isPassing } from '../failures.ts';

export type Lease = {
  readonly pool: pg.Pool;
  readonly name: string;
  readonly owner: string;
  readonly ttlMs: number;
};

export const renewOrNot = async (lease: Lease, epoch: number): Promise<Renewal> => {
  try {
    return (await renewalsOf(lease.pool)({ ...lease, epoch })) ?? 'unknown';
  } catch (error) {
    return isPassing(error) ? 'unknown' : 'lost';
  }
};

/** Unknown if something else holds the row of the lease. */
type Renewal = 'renewed' | 'lost' | 'unknown';
type Renewed = Lease & { readonly epoch: number };

/** A process renews all leases in one statement that are due in the same turn. */
const renewalsOf = oncePer((pool: pg.Pool) =>
  coalesce((leases: readonly Renewed[]) => renewAll(pool, leases)),
);

const RENEW = `with asked as (
    select * from unnest($1::text[], $2::uuid[], $3::bigint[], $4::float8[]) with ordinality
      as a (name, owner, epoch, ttl_ms, number)
  ), ours as (
    select a.number, a.ttl_ms, l.name from public.lease l
    join asked a on l.name = a.name and l.owner = a.owner and l.epoch = a.epoch
  ), free as materialized (
    select l.name from public.lease l
    join asked a on l.name = a.name and l.owner = a.owner and l.epoch = a.epoch
    for update of l skip locked
  ), renewed as (
    update public.lease l set expires_at = clock_timestamp() + o.ttl_ms * interval '1 millisecond'
    from ours o join free f on f.name = o.name where l.name = f.name returning l.name
  )
  select o.number, exists (select from renewed r where r.name = o.name) as "isRenewed" from ours o`;

const renewAll = async (
  pool: pg.Pool,
  leases: readonly Renewed[],
): Promise<ReadonlyMap<Renewed, Renewal>> => {
  const { rows } = await pool.query<{ number: number; isRenewed: boolean }>({
    // Leaves time for another attempt, on another connection.
    query_timeout: Math.min(...leases.map(({ ttlMs }) => ttlMs / 2)),
    name: 'lease-renew',
    text: RENEW,
    values: [
      leases.map(({ name }) => name),
      leases.map(({ owner }) => owner),
      leases.map(({ epoch }) => epoch),
      leases.map(({ ttlMs }) => ttlMs),
    ],
  } as pg.QueryConfig);
  const ours = new Map(rows.map(({ number, isRenewed }) => [number, isRenewed]));
  return new Map(
    leases.map((lease, index) => {
      const isRenewed = ours.get(index + 1);
      return [lease, isRenewed === undefined ? 'lost' : isRenewed ? 'renewed' : 'unknown'];
    }),
  );
};
