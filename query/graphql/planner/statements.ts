import type { Connection, Pool } from '#shared/database/pool.ts';

type Statement = { readonly name: string; readonly text: string; readonly isPlannedAnew: boolean };
export type Run = (statement: Statement, values: readonly unknown[]) => Promise<Rows>;
type Rows = readonly (readonly unknown[])[];

/** So many statements a connection prepares; then another takes its place, which costs a few milliseconds. */
const PREPARED_MAX = 256;

/** One plan serves every caller and all values; compiled expressions never pay in statements this short. */
const SETTINGS = 'set plan_cache_mode = force_generic_plan; set jit = off';
const PLANNED_ANEW = 'set plan_cache_mode = auto';

/** Runs statements that each connection prepares from the second time on that they are run, so that one that is run once costs no memory. */
export const createRunner = (pool: Pool): Run => {
  const prepared = new WeakMap<Connection, Set<string>>();
  const seen = new WeakSet<Statement>();
  return async (statement, values) => {
    const connection = await pool.connect();
    let isSpent = true;
    try {
      const names = prepared.get(connection) ?? new Set();
      if (!prepared.has(connection)) await connection.query(SETTINGS);
      prepared.set(connection, names);
      const isNamed = seen.has(statement) && !statement.isPlannedAnew;
      seen.add(statement);
      if (isNamed) names.add(statement.name);
      const rows = await (statement.isPlannedAnew ? runAnew : runOnce)(connection, isNamed ? statement : { text: statement.text }, values);
      isSpent = names.size >= PREPARED_MAX;
      return rows;
    } finally {
      // A connection whose statement failed may hold settings of that statement.
      connection.release(isSpent);
    }
  };
};

const runOnce = async (
  connection: Connection,
  { name, text }: { name?: string; text: string },
  values: readonly unknown[],
): Promise<Rows> => (await connection.query({ ...(name !== undefined && { name }), text, values: [...values], rowMode: 'array' })).rows;

const runAnew: typeof runOnce = async (connection, statement, values) => {
  await connection.query(PLANNED_ANEW);
  const rows = await runOnce(connection, statement, values);
  await connection.query(SETTINGS);
  return rows;
};
