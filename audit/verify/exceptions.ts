import type { Finding, Report } from '#shared/audit/verification-report.ts';
import type { Position, StreamName, Version } from '#shared/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/read-model/read-model.ts';
import type { Findings } from './findings.ts';

/**
 * The events that an operator left out of every projection. There are as many as operators had patience for.
 */
export type LeftOut = (event: { readonly stream: StreamName; readonly version: Version }) => boolean;

export const readLeftOut = async (pool: Pool): Promise<LeftOut> => {
  const { rows } = await pool.query<{ stream: StreamName; version: Version }>(
    'select stream, version from public.projection_skip',
  );
  const places = new Set(rows.map(({ stream, version }) => `${stream}@${version}`));
  return ({ stream, version }) => places.has(`${stream}@${version}`);
};

/**
 * What is parked in the rows that were made, and was taken into those in use, was damaged since: of a past
 * where the two are not compared, this tells it.
 */
export const tellDamaged = async (
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
 * What is out of the read model because it could not be taken in. It is told, and is no failure: everybody
 * else was told as well.
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
