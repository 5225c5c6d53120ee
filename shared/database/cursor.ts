import type { Pool } from './pool.ts';
import { rollBack } from './transaction.ts';

const ROWS_AT_ONCE = 500;

/**
 * All rows of a statement, a part at a time: neither this process nor the server holds all of them. The
 * connection is in use until the last row is taken.
 */
export async function* rowsOf<Row extends object>(
  pool: Pool,
  text: string,
  values: readonly unknown[],
): AsyncGenerator<Row> {
  const connection = await pool.connect();
  let broken: Error | undefined;
  let failure: unknown;
  try {
    await connection.query('begin read only');
    await connection.query(`declare export no scroll cursor for ${text}`, [...values]);
    for (;;) {
      const { rows } = await connection.query<Row>(`fetch ${ROWS_AT_ONCE} from export`);
      yield* rows;
      if (rows.length < ROWS_AT_ONCE) return;
    }
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    broken = await rollBack(connection, failure);
    connection.release(broken);
  }
}
