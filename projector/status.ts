import type { Position } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { readCheckpoint } from '#shared/follower/checkpoint.ts';
import { LIVE_SCHEMA, PROJECTOR } from '#shared/read-model/read-model.ts';
import { isOfThisRelease } from './definition.ts';
import { isLocked, NEXT, PREVIOUS } from './versions.ts';

export type ProjectionStatus = {
  readonly head: Position;
  readonly live: Version & { readonly parked: number; readonly isOfThisRelease: boolean };
  readonly previous: (Version & { readonly isOfThisRelease: boolean }) | undefined;
  /** One that is being built, or was left by a rebuild that was killed. */
  readonly next: Version | undefined;
  /** A rebuild or a rollback. */
  readonly isUnderWay: boolean;
};

type Version = Size & { readonly position: Position };
type Size = { readonly bytes: number };

export const readStatus = async ({ pool, eventLog }: { pool: Pool; eventLog: EventLog }): Promise<ProjectionStatus> => {
  const { rows } = await pool.query<{ parked: number }>(`select count(*) as parked from ${LIVE_SCHEMA}.parked`);
  const live = await readVersion(pool, { schema: LIVE_SCHEMA, follower: PROJECTOR });
  const previous = await readVersion(pool, PREVIOUS);
  return {
    // After the positions, so that none is beyond it.
    live: {
      position: live?.position ?? START,
      bytes: live?.bytes ?? 0,
      parked: rows[0]?.parked ?? 0,
      isOfThisRelease: await isOfThisRelease(pool, LIVE_SCHEMA),
    },
    previous: previous && { ...previous, isOfThisRelease: await isOfThisRelease(pool, PREVIOUS.schema) },
    next: await readVersion(pool, NEXT),
    isUnderWay: await isLocked(pool),
    head: await eventLog.head(),
  };
};

const readVersion = async (pool: Pool, { schema, follower }: typeof NEXT): Promise<Version | undefined> => {
  const checkpoint = await readCheckpoint(pool, follower);
  const { rows } = await pool.query<Size>(
    `select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint as bytes
     from pg_class c where relnamespace = to_regnamespace($1) and relkind = 'r' having to_regnamespace($1) is not null`,
    [schema],
  );
  return checkpoint && rows[0] && { position: checkpoint.position, bytes: rows[0].bytes };
};
