import type { EventId, Position, StreamName, Version } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { DerivedFinding } from '#shared/rest/verification-report.ts';

type Unread = {
  readonly key: EventId;
  readonly stream: StreamName;
  readonly version: Version;
  readonly position: Position;
};

/** Events at positions below 1: followers begin later, but commands read them with their stream. */
export const findUnreadEvents = async (pool: Pool): Promise<readonly DerivedFinding[]> => {
  const { rows: found } = await pool.query<{ isThere: boolean }>(
    `select to_regclass('event_log.event') is not null as "isThere"`,
  );
  if (found[0]?.isThere !== true) return [];
  const { rows } = await pool.query<Unread>(
    'select id as key, stream, version, position from event_log.event where position < 1 order by position limit 100',
  );
  return rows.map((row) => ({
    ...row,
    ...{ kind: 'derived_extra', table: 'event_log.event', columns: [], position: null },
  }));
};
