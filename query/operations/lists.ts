import type { Pool } from '#shared/database/pool.ts';
import { HttpProblem } from '#shared/http/http-problem.ts';
import { OPERATOR_COMMAND_COLUMNS, type OperatorCommand } from '#shared/operations/operator-commands.ts';
import { type Listed, PARKED_COLUMNS } from '#shared/read-model/parked.ts';
import { LIVE_SCHEMA } from '#shared/read-model/read-model.ts';
import { pathEventId } from '#shared/rest/path-id.ts';
import type { Stretch } from '#shared/webhooks/deliveries.ts';

/** Without the reports, which may be large. */
export type OperatorCommandRow = OperatorCommand & { readonly report?: string | null };

/** Parked aggregates, the latest event first. */
export const readParked = async (
  pool: Pool,
  { after, before, isBackward, rowsMax }: Stretch<number>,
): Promise<readonly Listed[]> => {
  const { rows } = await pool.query<Listed>(
    `select ${PARKED_COLUMNS} from ${LIVE_SCHEMA}.parked
     where ($1::bigint is null or position < $1) and ($2::bigint is null or position > $2)
     order by position ${isBackward ? 'asc' : 'desc'} limit $3`,
    [after, before, rowsMax],
  );
  return rows;
};

/** Ids are ordered by time. */
export const readOperatorCommands = async (
  pool: Pool,
  { after, before, isBackward, rowsMax }: Stretch<string>,
): Promise<readonly OperatorCommandRow[]> => {
  // A forged cursor.
  if ([after, before].some((id) => id !== undefined && pathEventId(id) === undefined))
    throw new HttpProblem('unknown_cursor');
  const { rows } = await pool.query<OperatorCommandRow>(
    `select ${OPERATOR_COMMAND_COLUMNS} from operations.asked
     where ($1::uuid is null or id < $1) and ($2::uuid is null or id > $2)
     order by id ${isBackward ? 'asc' : 'desc'} limit $3`,
    [after, before, rowsMax],
  );
  return rows;
};
