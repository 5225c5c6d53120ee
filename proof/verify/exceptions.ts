import type { Position, StreamName, Version } from '#kernel/base/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import type { Finding, Report } from '#shared/rest/verification-report.ts';
import type { Findings } from './findings.ts';

/** Returns whether an operator has skipped an event in every projection. There are few such events. */
type IsSkipped = (event: { readonly stream: StreamName; readonly version: Version }) => boolean;

export const readSkipped = async (pool: Pool): Promise<IsSkipped> => {
  const { rows } = await pool.query<{ stream: StreamName; version: Version }>(
    'select stream, version from public.projection_skip',
  );
  const skipped = new Set(rows.map(({ stream, version }) => `${stream}@${version}`));
  return ({ stream, version }) => skipped.has(`${stream}@${version}`);
};

/**
 * An event that is parked in the rebuilt rows but was applied to the live ones was damaged since. For a past
 * that has no live rows, this reports it.
 */
export const reportDamaged = async (
  connection: Connection,
  schema: string,
  findings: Findings,
): Promise<void> => {
  const { rows } = await connection.query<
    Omit<Extract<Finding, { kind: 'event_damaged' }>, 'kind'> & { readonly total: number }
  >(
    `select stream, version, position, type, reason, count(*) over () as total from ${schema}.parked p
     where not exists (select from ${LIVE_SCHEMA}.parked l where l.stream = p.stream and l.version <= p.version)
     order by position limit ${LISTED_MAX}`,
  );
  for (const { total: _, ...damaged } of rows) findings.add({ kind: 'event_damaged', ...damaged });
  findings.addUnlisted('event_damaged', (rows[0]?.total ?? 0) - rows.length);
};

const LISTED_MAX = 100;

type Listed = Report['parked']['listed'][number] & { readonly total: number };

/**
 * Items that are not in the read model because they could not be applied. They are listed, and are no
 * failure, because every projection reports them.
 */
export const listExceptions = async (
  connection: Connection,
  schema: string,
  upTo: Position,
): Promise<Pick<Report, 'parked' | 'leftOut'>> => {
  const parked = await connection.query<Listed>(
    `select stream, version, position, type, reason, count(*) over () as total from ${schema}.parked order by position limit ${LISTED_MAX}`,
  );
  const leftOut = await connection.query<Listed>(
    `select stream, version, position, null as type, reason, count(*) over () as total
     from public.projection_skip where position <= $1 order by position limit ${LISTED_MAX}`,
    [upTo],
  );
  return { parked: listed(parked.rows), leftOut: listed(leftOut.rows) };
};

const listed = (rows: readonly Listed[]): Report['parked'] => ({
  total: rows[0]?.total ?? 0,
  listed: rows.map(({ total: _, ...each }) => each),
});
