import type { StreamName } from '#kernel/base/brands.ts';
import { RETENTION } from '#kernel/base/keeping.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';

/** An aggregate that ends by its retention: at a time, or after the release of its holds. */
export type Retained = {
  readonly stream: StreamName;
  /** Null while it is under a hold. */
  readonly dueAt: Date | null;
  /** The time in microseconds, as PostgreSQL counts; null while it is under a hold. */
  readonly micros: string | null;
};

type Asked = {
  readonly domain: Domain;
  readonly days: number;
  readonly after: Retained | undefined;
  readonly rowsMax: number;
};

/** The next to end comes first, and what is under a hold last. There is an index on the same expressions. */
const PLACE = `coalesce(due_at, 'infinity'::timestamptz)`;
const MOMENT = `coalesce('epoch'::timestamptz + $4::bigint * interval '1 microsecond', 'infinity'::timestamptz)`;

/** Of one retention each, in pages; empty before the command role has run. */
export const readRetained = async (
  pool: Pick<Pool, 'query'>,
  { domain, days, after, rowsMax }: Asked,
): Promise<readonly Retained[]> => {
  const { rows: there } = await pool.query<{ isThere: boolean }>(
    `select to_regclass('process_manager.timer') is not null as "isThere"`,
  );
  const kinds = Object.values(domain.kinds).flatMap(({ name, retain }) =>
    retain === undefined ? [] : [name],
  );
  if (!there[0]?.isThere) return [];
  const { rows } = await pool.query<Retained>(
    `select stream, due_at as "dueAt", (extract(epoch from due_at) * 1000000)::bigint::text as micros from process_manager.timer
     where name = $1 and split_part(stream, '-', 1) = any($6) and (due_at is null or due_at <= statement_timestamp() + $2::integer * interval '1 day')
       and ($3::text is null or (${PLACE}, stream) > (${MOMENT}, $3))
     order by ${PLACE}, stream limit $5`,
    [RETENTION, days, after?.stream ?? null, after?.micros ?? null, rowsMax, kinds],
  );
  return rows;
};
