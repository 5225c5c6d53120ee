import type { EventId, StreamName } from '#kernel/base/brands.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Stretch } from '#shared/webhooks/deliveries.ts';

/**
 * The missing consequence of an event: the end of a child, the erasure of the user whose stream it is, a
 * command, or custom code.
 */
export type ParkedTask = {
  readonly task: 'end' | 'erase' | 'run' | 'react';
  readonly stream: StreamName;
  /** Of the reaction, if it is one: `team team.closed`, or the name of the event. */
  readonly name: string | null;
  readonly causeId: EventId;
  readonly reason: string;
  readonly attempts: number;
  readonly parkedAt: Date;
  readonly nextAt: Date;
  readonly skippedAt: Date | null;
};

export type ConsequenceCounts = {
  /** The number of consequences that are retried. */
  readonly parked: number;
  readonly skipped: number;
  /** For how long the oldest retried one has been parked; null if there is none. */
  readonly oldestSeconds: number | null;
};

const CONSEQUENCES = `(
  select task, stream, null as name, cause_id, reason, attempts, parked_at, next_at, skipped_at from process_manager.parked
  union all
  select task, stream, name, cause_id, reason, attempts, parked_at, next_at, skipped_at from process_manager.task where attempts > 0)`;

export type ListedTask = ParkedTask & { readonly key: string };

/** Each table has an index of these columns: in the order of time, and unique. */
const PARTS = [
  {
    from: 'process_manager.parked where true',
    name: 'null',
    place: ['parked_at', 'stream', 'task', 'cause_id'],
  },
  {
    from: 'process_manager.task where attempts > 0',
    name: 'name',
    place: ['parked_at', 'stream', 'task', 'name', 'cause_id'],
  },
] as const;
/** In microseconds, as PostgreSQL counts. */
const MICROS = '(extract(epoch from parked_at) * 1000000)::bigint::text';
const KEY = /^(\d{1,17}) ([a-z]+) ([!-~]+) ([ -~]*) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
const EDGES = {
  ...{ parked_at: `'epoch'::timestamptz + $2::bigint * interval '1 microsecond'`, stream: '$4', task: '$3' },
  ...{ name: '$5', cause_id: '$6::uuid' },
} as const;

/** The latest first. */
export const readConsequences = async (
  pool: Pick<Pool, 'query'>,
  { after, before, isBackward, rowsMax }: Stretch<string>,
): Promise<readonly ListedTask[]> => {
  if (!(await isThere(pool))) return [];
  const edge = after ?? before;
  const [, ...values] = edge === undefined ? [] : (KEY.exec(edge) ?? []);
  if (edge !== undefined && values.length === 0) throw new HttpProblem('unknown_cursor');
  const inOrder = (place: readonly string[]): string =>
    place.map((each) => `${each} ${isBackward ? 'asc' : 'desc'}`).join();
  const parts = PARTS.map(({ from, name, place }) => {
    const than = place.map((each) => EDGES[each]).join();
    const isBeyond =
      edge === undefined ? 'true' : `(${place.join()}) ${after === undefined ? '>' : '<'} (${than})`;
    return `(select task, stream, ${name} as name, cause_id, reason, attempts, parked_at, next_at, skipped_at
      from ${from} and ${isBeyond} order by ${inOrder(place)} limit $1)`;
  });
  const { rows } = await pool.query<ListedTask>(
    `select task, stream, name, cause_id as "causeId", reason, attempts, parked_at as "parkedAt", next_at as "nextAt", skipped_at as "skippedAt",
       ${MICROS} || ' ' || task || ' ' || stream || ' ' || coalesce(name, '') || ' ' || cause_id as key
     from (${parts.join(' union all ')}) as c order by ${inOrder(['parked_at', 'stream', 'task', `coalesce(name, '')`, 'cause_id'])} limit $1`,
    [rowsMax, ...values],
  );
  return rows;
};

export const countConsequences = async (pool: Pool): Promise<ConsequenceCounts> => {
  if (!(await isThere(pool))) return { parked: 0, skipped: 0, oldestSeconds: null };
  const { rows } = await pool.query<ConsequenceCounts>(
    `select count(*) filter (where skipped_at is null) as parked, count(skipped_at) as skipped,
       greatest(extract(epoch from clock_timestamp() - min(parked_at) filter (where skipped_at is null)), 0)::float8 as "oldestSeconds"
     from ${CONSEQUENCES} as c`,
  );
  const [counts] = rows;
  if (counts === undefined) throw new Error('a count without a row');
  return counts;
};

/** The command role creates the tables, and may never have run. */
const isThere = async (pool: Pick<Pool, 'query'>): Promise<boolean> => {
  const { rows } = await pool.query<{ isThere: boolean }>(
    `select to_regclass('process_manager.task') is not null as "isThere"`,
  );
  return rows[0]?.isThere ?? false;
};
