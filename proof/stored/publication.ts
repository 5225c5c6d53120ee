import type { Pool } from '#shared/database/pool.ts';

/** The heads outside the database, as their publisher has last seen them. */
type Publication = {
  /** The number of events that the newest published head covers, and when it was signed. */
  readonly count: number;
  readonly at: Date | null;
  /** The reason why nothing is published; null while all is well. */
  readonly problem: string | null;
};

const NOTHING: Publication = { count: 0, at: null, problem: null };

export const readPublication = async (pool: Pool): Promise<Publication> => {
  const { rows } = await pool.query<Publication>('select count, at, problem from audit.publication');
  return rows[0] ?? NOTHING;
};

export const recordPublished = async (
  pool: Pool,
  { count, at }: { readonly count: number; readonly at: string | null },
): Promise<void> => {
  await pool.query(
    `insert into audit.publication (count, at, problem, checked_at) values ($1, $2, null, now())
     on conflict (only_one) do update set count = $1, at = $2, problem = null, checked_at = now()`,
    [count, at],
  );
};

/** Records that nothing can be published. */
export const recordProblem = async (pool: Pool, problem: string): Promise<void> => {
  await pool.query(
    `insert into audit.publication (count, at, problem, checked_at) values (0, null, $1, now())
     on conflict (only_one) do update set problem = $1, checked_at = now()`,
    [problem],
  );
};
