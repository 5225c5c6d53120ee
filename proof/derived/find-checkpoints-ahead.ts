import type { Position } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { headReaching } from '#shared/event-log/ask-again.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { DerivedFinding } from '#shared/rest/verification-report.ts';

type Dependencies = {
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'identity' | 'head' | 'late'>;
};

const TABLE = 'public.follower_checkpoint';

/** Followers beyond the end of the log: they leave out the events that come next. */
export const findCheckpointsAhead = async ({
  pool,
  eventLog,
}: Dependencies): Promise<readonly DerivedFinding[]> => {
  const { rows } = await pool.query<{ follower: string; position: Position }>(
    `select follower, position from ${TABLE} where log = $1 order by position desc`,
    [eventLog.identity],
  );
  const furthest = rows[0]?.position ?? (0 as Position);
  const head = await headReaching(eventLog, furthest);
  return rows.flatMap(({ follower, position }): readonly DerivedFinding[] =>
    position <= head
      ? []
      : [
          {
            ...{ kind: 'derived_different', table: TABLE, key: follower, columns: ['position'] },
            ...{ stream: null, version: null, position },
          },
        ],
  );
};
