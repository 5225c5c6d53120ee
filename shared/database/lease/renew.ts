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
  const renewed = { ...lease, epoch };
  try {
    const answer = (await renewalsOf(lease.pool)(renewed)) ?? 'held';
    return answer === 'held' ? await renewOne(renewed) : answer;
  } catch (error) {
    return isPassing(error) ? 'unknown' : 'lost';
  }
};

/** Unknown if the server did not answer in time, or something held the row of the lease for as long. */
export type Renewal = 'renewed' | 'lost' | 'unknown';
type Renewed = Lease & { readonly epoch: number };

/**
 * A process renews all leases in one statement that are due in the same turn. It waits for no row that another
 * transaction holds, as those of timers do, so that the other leases are renewed in time.
 */
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
): Promise<ReadonlyMap<Renewed, 'renewed' | 'lost' | 'held'>> => {
  const { rows } = await pool.query<{ number: number; isRenewed: boolean }>({
    query_timeout: Math.min(...leases.map(answerWithinMs)),
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
      return [lease, isRenewed === undefined ? 'lost' : isRenewed ? 'renewed' : 'held'];
    }),
  );
};

/** The same for one lease; it waits for its row, so that many short transactions cannot keep it from it. */
const renewOne = async ({ pool, name, owner, epoch, ttlMs }: Renewed): Promise<Renewal> => {
  const { rowCount } = await pool.query({
    query_timeout: answerWithinMs({ ttlMs }),
    text: `update public.lease set expires_at = clock_timestamp() + $4 * interval '1 millisecond' where name = $1 and owner = $2 and epoch = $3`,
    values: [name, owner, epoch, ttlMs],
  } as pg.QueryConfig);
  return rowCount === 1 ? 'renewed' : 'lost';
};

/** Leaves time for another attempt, on another connection. */
const answerWithinMs = ({ ttlMs }: Pick<Lease, 'ttlMs'>): number => ttlMs / 2;
