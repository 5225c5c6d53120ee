import type { Position } from '#kernel/base/brands.ts';
import { LIVE, LIVE_SCHEMA, NEXT, PREVIOUS } from '#shared/database/read-model-schemas.ts';
import { START } from '#shared/event-log/event-log.ts';
import {
  areVersionsLocked,
  readVersion,
  type VersionOfReadModel as Version,
} from '#shared/read-model/versions.ts';
import { isOfThisRelease } from './definition.ts';
import type { Mending } from './retry.ts';

export type ProjectionStatus = {
  readonly head: Position;
  readonly live: Version & { readonly parked: number; readonly isOfThisRelease: boolean };
  readonly previous: (Version & { readonly isOfThisRelease: boolean }) | undefined;
  /** A version that is being built, or was left by a rebuild that was killed. */
  readonly next: Version | undefined;
  /** A rebuild or a rollback. */
  readonly isUnderWay: boolean;
};

export const readStatus = async ({
  pool,
  eventLog,
  tables,
}: Pick<Mending, 'pool' | 'eventLog' | 'tables'>): Promise<ProjectionStatus> => {
  const { rows } = await pool.query<{ parked: number }>(
    `select count(*) as parked from ${LIVE_SCHEMA}.parked`,
  );
  const live = await readVersion(pool, LIVE);
  const previous = await readVersion(pool, PREVIOUS);
  return {
    // Read after the positions, so that none is beyond it.
    live: {
      position: live?.position ?? START,
      bytes: live?.bytes ?? 0,
      parked: rows[0]?.parked ?? 0,
      isOfThisRelease: await isOfThisRelease(pool, tables, LIVE_SCHEMA),
    },
    previous: previous && {
      ...previous,
      isOfThisRelease: await isOfThisRelease(pool, tables, PREVIOUS.schema),
    },
    next: await readVersion(pool, NEXT),
    isUnderWay: await areVersionsLocked(pool),
    head: await eventLog.head(),
  };
};
