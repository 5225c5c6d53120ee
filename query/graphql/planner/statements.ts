import type { Connection, Pool } from '#shared/database/pool.ts';
import { PreparedRead } from '#shared/database/prepared-read.ts';
import { isThroughPooler } from '#shared/database/session.ts';

type Statement = { readonly name: string; readonly text: string; readonly needsCustomPlan: boolean };
export type Run = (statement: Statement, values: readonly unknown[]) => Promise<Rows>;
type Rows = readonly (readonly unknown[])[];

/**
 * A connection that has prepared this number of statements is replaced, which costs a few milliseconds. PostgreSQL
 * takes about a hundred bytes per character.
 */
const PREPARED_MAX = 256;
const PREPARED_CHARACTERS_MAX = 500_000;

/** One plan serves every caller and all values. */
const SETTINGS = 'set plan_cache_mode = force_generic_plan';
const CUSTOM_PLAN = 'set plan_cache_mode = auto';

/**
 * Prepares a statement on each connection when it runs for the second time, so that a single run costs no
 * memory. Through a pooler nothing is prepared, because the next statement may use another session.
 */
export const createRunner = (pool: Pool): Run => {
  const prepared = new WeakMap<Connection, Prepared>();
  const seen = new WeakSet<Statement>();
  return async (statement, values) => {
    const connection = await pool.connect();
    let isSpent = true;
    try {
      if (isThroughPooler(connection)) {
        const rows = await runOnce(connection, { text: statement.text }, values);
        isSpent = false;
        return rows;
      }
      const held = prepared.get(connection) ?? { names: new Set(), characters: 0 };
      if (!prepared.has(connection)) await connection.query(SETTINGS);
      prepared.set(connection, held);
      const isNamed = seen.has(statement) && !statement.needsCustomPlan;
      seen.add(statement);
      if (isNamed) hold(held, statement);
      const rows = await (statement.needsCustomPlan ? runWithCustomPlan : runOnce)(
        connection,
        isNamed ? statement : { text: statement.text },
        values,
      );
      isSpent = held.names.size >= PREPARED_MAX || held.characters >= PREPARED_CHARACTERS_MAX;
      return rows;
    } finally {
      // After a failed statement, the connection may keep that statement’s settings.
      connection.release(isSpent);
    }
  };
};

/** The prepared statements of a connection. */
type Prepared = { readonly names: Set<string>; characters: number };

const hold = (held: Prepared, { name, text }: Statement): void => {
  if (!held.names.has(name)) held.characters += text.length;
  held.names.add(name);
};

const runOnce = async (
  connection: Connection,
  { name, text }: { name?: string; text: string },
  values: readonly unknown[],
): Promise<Rows> => {
  if (name !== undefined)
    return new PreparedRead<readonly unknown[]>({ name, text, rowMode: 'array' }, values).runOn(connection);
  return (await connection.query({ text, values: [...values], rowMode: 'array' })).rows;
};

const runWithCustomPlan: typeof runOnce = async (connection, statement, values) => {
  await connection.query(CUSTOM_PLAN);
  const rows = await runOnce(connection, statement, values);
  await connection.query(SETTINGS);
  return rows;
};
