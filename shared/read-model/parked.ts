import type { Position, StreamName, Version } from '#shared/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { START } from '#shared/event-log/event-log.ts';
import { LIVE_SCHEMA } from './read-model.ts';

/**
 * An aggregate that is out of the read model because of an event that cannot be applied; all others continue.
 */
export type Parked = {
  readonly stream: StreamName;
  readonly version: Version;
  readonly position: Position;
  readonly type: string;
  /** Names fields and rules, never content, because content may be personal. */
  readonly reason: string;
};

export type Listed = Parked & { readonly since: Date };

const PAGE = 1_000;
export const PARKED_COLUMNS = 'stream, version, position, type, reason, parked_at as since';

/** All aggregates that are parked in the live read model, in the order of the events that park them. */
export async function* listParked(pool: Pool): AsyncGenerator<readonly Listed[]> {
  for (let after = START; ; ) {
    const { rows } = await pool.query<Listed>(
      `select ${PARKED_COLUMNS} from ${LIVE_SCHEMA}.parked where position > $1 order by position limit ${PAGE}`,
      [after],
    );
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.position ?? after;
  }
}

export const findParked = async (
  database: Pool | Connection,
  stream: StreamName,
): Promise<Listed | undefined> => {
  const { rows } = await database.query<Listed>(
    `select ${PARKED_COLUMNS} from ${LIVE_SCHEMA}.parked where stream = $1`,
    [stream],
  );
  return rows[0];
};
