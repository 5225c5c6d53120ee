import type { Connection, Pool } from '#shared/database/pool.ts';

export type Statement = { readonly name: string; readonly text: string };
export type Run = (statement: Statement, values: readonly unknown[]) => Promise<readonly (readonly unknown[])[]>;

/** So many statements a connection prepares; then another takes its place, which costs a few milliseconds. */
const PREPARED_MAX = 256;

/** Plans are made once, for every caller: those for one caller's values would be made anew too often. A compiled expression never pays here. */
const SETTINGS = 'set plan_cache_mode = force_generic_plan; set jit = off';

/** Runs statements that each connection prepares from the second time on that they are run, so that one that is run once costs no memory. */
export const createRunner = (pool: Pool): Run => {
  const prepared = new WeakMap<Connection, Set<string>>();
  const seen = new WeakSet<Statement>();
  return async (statement, values) => {
    const connection = await pool.connect();
    let failure: Error | undefined;
    let names = prepared.get(connection);
    try {
      if (names === undefined) {
        await connection.query(SETTINGS);
        names = new Set();
        prepared.set(connection, names);
      }
      const { name, text } = statement;
      const isKnown = seen.has(statement);
      seen.add(statement);
      if (isKnown) names.add(name);
      return (await connection.query({ ...(isKnown && { name }), text, values: [...values], rowMode: 'array' })).rows;
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      throw error;
    } finally {
      connection.release(failure ?? (names !== undefined && names.size >= PREPARED_MAX));
    }
  };
};
