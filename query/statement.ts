import { createHash } from 'node:crypto';
import { isPassing } from '#shared/database/failures.ts';
import type { Pool } from '#shared/database/pool.ts';
import { HttpProblem } from '#shared/http/http-problem.ts';

/** The values of a statement, each named in its text by what `add` answers. */
export class Parameters {
  readonly values: unknown[] = [];

  add(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

const names = new Map<string, string>();

/**
 * Runs a statement that each connection parses and plans once. Its text must be one of a few: what differs between callers
 * goes into the values.
 */
export const runPrepared = <Row extends object>(pool: Pool, text: string, values: readonly unknown[]): Promise<readonly Row[]> =>
  run(pool, { name: nameOf(text), text, values: [...values] });

/** Runs a statement that is planned each time, for the values that it has this time. */
export const runPlannedAnew = <Row extends object>(pool: Pool, text: string, values: readonly unknown[]): Promise<readonly Row[]> =>
  run(pool, { text, values: [...values] });

const nameOf = (text: string): string => {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `query_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
  names.set(text, name);
  return name;
};

/** The tables are not there until a projector has run for the first time. */
const UNDEFINED_TABLE = '42P01';

const run = async <Row extends object>(
  pool: Pool,
  statement: { readonly name?: string; readonly text: string; readonly values: unknown[] },
): Promise<readonly Row[]> => {
  try {
    return (await pool.query<Row>(statement)).rows;
  } catch (cause) {
    const isAbsent = cause instanceof Error && 'code' in cause && cause.code === UNDEFINED_TABLE;
    if (isAbsent || isPassing(cause)) throw new HttpProblem('unavailable', { headers: { 'Retry-After': RETRY_AFTER_SECONDS }, cause });
    throw cause;
  }
};

const RETRY_AFTER_SECONDS = '1';
