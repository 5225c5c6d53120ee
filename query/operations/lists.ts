import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { pathEventId } from '#kernel/base/rest/path-id.ts';
import { OPERATOR_COMMAND_COLUMNS, type OperatorCommand } from '#process/operations/operator-commands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import { type Listed, PARKED_COLUMNS } from '#shared/read-model/parked.ts';
import type { Stretch } from '#shared/webhooks/deliveries.ts';

/** Without the reports, which may be large. */
export type OperatorCommandRow = OperatorCommand & { readonly report?: string | null };

export type KeyedParked = Listed & { readonly key: string };

/** Several may be parked at one position: those whose streams were cut. */
const KEY_OF_PARKED = `(lpad(position::text, 16, '0') || ' ' || stream) collate "C"`;

/** Parked aggregates, the latest event first. */
export const readParked = async (
  pool: Pool,
  { after, before, isBackward, rowsMax }: Stretch<string>,
): Promise<readonly KeyedParked[]> => {
  const { rows } = await pool.query<KeyedParked>(
    `select ${PARKED_COLUMNS}, ${KEY_OF_PARKED} as key from ${LIVE_SCHEMA}.parked
     where ($1::text is null or ${KEY_OF_PARKED} < $1) and ($2::text is null or ${KEY_OF_PARKED} > $2)
     order by key ${isBackward ? 'asc' : 'desc'} limit $3`,
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
