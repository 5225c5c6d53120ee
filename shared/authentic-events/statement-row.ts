import type { LogIdentity } from '#kernel/base/brands.ts';
import { isUndefinedTable } from '#shared/database/failures.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import {
  type Authenticating,
  closed,
  combined,
  isSame,
  opened,
  type Statement,
  type Stored,
} from './statement.ts';

type Rows = Pick<Pool | Connection, 'query'>;

export const readRow = async (rows: Rows, authenticating: Authenticating): Promise<Statement | undefined> => {
  try {
    return opened(await selectRow(rows, authenticating.log), authenticating);
  } catch (error) {
    if (isUndefinedTable(error)) return undefined;
    throw error;
  }
};

/** Each fails only if another process has written in between. */
const ATTEMPTS_MAX = 50;

/** Adds it to what the row says, also to what another process says at the same moment, and returns that. */
export const writeRow = async (
  rows: Rows,
  written: Statement,
  authenticating: Authenticating,
): Promise<Statement> => {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const row = await selectRow(rows, authenticating.log);
    const found = opened(row, authenticating);
    const both = found === undefined ? written : combined(found, written);
    if (
      isSame(found, both) ||
      (await replaceRow(rows, authenticating.log, [row, closed(both, authenticating)]))
    )
      return both;
  }
  throw new Error(`others change all the time what the database says about the log ${authenticating.log}`);
};

const selectRow = async (pool: Rows, log: LogIdentity): Promise<Stored | undefined> => {
  const { rows } = await (pool as Pool).query<Stored>(
    `select statement, encode(mac, 'hex') as mac from public.authentic_events where of_log = $1`,
    [log],
  );
  return rows[0];
};

/** Returns false if the row is no longer the one that was read. */
const replaceRow = async (
  pool: Rows,
  log: LogIdentity,
  [read, written]: readonly [Stored | undefined, Stored],
): Promise<boolean> => {
  const values = [log, written.statement, written.mac];
  const { rowCount } = await (read === undefined
    ? (pool as Pool).query(INSERT, values)
    : (pool as Pool).query(UPDATE, [...values, read.mac]));
  return rowCount === 1;
};

const INSERT = `insert into public.authentic_events (of_log, statement, mac) values ($1, $2, decode($3, 'hex'))
  on conflict (of_log) do nothing`;
const UPDATE = `update public.authentic_events set statement = $2, mac = decode($3, 'hex')
  where of_log = $1 and mac = decode($4, 'hex')`;
