import { createHash } from 'node:crypto';
import { oncePer } from '#kernel/base/once-per.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { isPassing, isUndefinedColumn, isUndefinedTable } from '#shared/database/failures.ts';
import type { Pool } from '#shared/database/pool.ts';
import { PreparedRead } from '#shared/database/prepared-read.ts';
import { createSharedRuns } from './shared-runs.ts';

/** The parameters of a statement. `add` returns the placeholder for its text. */
export class Parameters {
  readonly values: unknown[] = [];

  add(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

const names = new Map<string, string>();

/**
 * Runs a statement that each connection parses and plans once. There must be few different texts: what
 * differs between callers goes into the parameters.
 */
export const runPrepared = <Row extends object>(
  pool: Pool,
  text: string,
  values: readonly unknown[],
): Promise<readonly Row[]> => run(pool, new PreparedRead<Row>({ name: nameOf(text), text }, values));

const sharedRunsOf = oncePer((_pool: Pool) => createSharedRuns<readonly object[]>());

/** The same, and callers that come with the same parameters at the same time share one run. */
export const runShared = <Row extends object>(
  pool: Pool,
  text: string,
  values: readonly unknown[],
): Promise<readonly Row[]> => {
  const share = sharedRunsOf(pool);
  // The rows have the type of the text, which is part of the key.
  return share(`${JSON.stringify(values)} ${text}`, () => runPrepared(pool, text, values)) as Promise<
    readonly Row[]
  >;
};

/**
 * Finds rows by id; `textOf` makes the statement from the condition on them. One id has a statement of its
 * own, whose plan suits any id. Many ids are planned for their number.
 */
export const createFinder = <Row extends { readonly id: number }>(textOf: (condition: string) => string) => {
  const [ofOne, ofMany] = [textOf('t.id = $1::bigint'), textOf('t.id = any($1::bigint[])')];
  return async (pool: Pool, ids: readonly number[]): Promise<ReadonlyMap<number, Row>> => {
    const rows = await (ids.length === 1
      ? runPrepared<Row>(pool, ofOne, ids)
      : runPrepared<Row>(pool, ofMany, [ids]));
    return new Map(rows.map((row) => [row.id, row]));
  };
};

/** Runs a statement that PostgreSQL plans for these parameters each time. */
export const runWithCustomPlan = <Row extends object>(
  pool: Pool,
  text: string,
  values: readonly unknown[],
): Promise<readonly Row[]> => run(pool, { text, values: [...values] });

const nameOf = (text: string): string => {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `query_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
  names.set(text, name);
  return name;
};

const run = async <Row extends object>(
  pool: Pool,
  statement: { readonly text: string; readonly values: unknown[] },
): Promise<readonly Row[]> => {
  try {
    return (await pool.query<Row>(statement)).rows;
  } catch (cause) {
    throw readFailureOf(cause);
  }
};

/** Translates a failed read into what clients get. Many failures are temporary. */
export const readFailureOf = (cause: unknown): unknown => {
  if (isUndefinedColumn(cause))
    return new HttpProblem('unavailable', {
      headers: { 'Retry-After': REBUILD_SECONDS },
      detail: OTHER_TABLES,
      cause,
    });
  if (!isUndefinedTable(cause) && !isPassing(cause)) return cause;
  return new HttpProblem('unavailable', { headers: { 'Retry-After': RETRY_AFTER_SECONDS }, cause });
};

/** Also while the tables do not exist, before a projector has run for the first time. */
const RETRY_AFTER_SECONDS = '1';
/** With a new declaration, columns are missing until the tables are rebuilt. */
const REBUILD_SECONDS = '10';
const OTHER_TABLES = 'The read model is being rebuilt, or waits for an operator to rebuild it; retry later.';
