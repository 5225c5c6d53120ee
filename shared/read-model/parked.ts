import type { Position, StreamName, Version } from '#kernel/base/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import { START } from '#shared/event-log/event-log.ts';

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

/** Whether an operator has cut its stream (`StreamCut`): then no event of it can be skipped. */
export const isCut = ({ reason }: Pick<Parked, 'reason'>): boolean => reason.startsWith(CUT);
export const CUT = 'stream_cut: ';

/** Whether Annals has not written the record (`ForeignRecord`): nobody has decided anything by it. */
export const isForeign = ({ reason }: Pick<Parked, 'reason'>): boolean =>
  ['foreign_record: ', 'event_not_authentic: '].some((begin) => reason.startsWith(begin));

export type Listed = Parked & { readonly since: Date };

const PAGE = 1_000;
export const PARKED_COLUMNS = 'stream, version, position, type, reason, parked_at as since';

/**
 * All aggregates that are parked in the live read model, in the order of the events that park them. Those
 * whose streams were cut share the position at which that was noticed.
 */
export async function* listParked(pool: Pool, rowsMax = PAGE): AsyncGenerator<readonly Listed[]> {
  let after: readonly [Position, string] = [START, ''];
  for (;;) {
    const { rows } = await pool.query<Listed>(
      `select ${PARKED_COLUMNS} from ${LIVE_SCHEMA}.parked where (position, stream) > ($1, $2) order by position, stream limit $3`,
      [...after, rowsMax],
    );
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < rowsMax) return;
    after = [last.position, last.stream];
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
