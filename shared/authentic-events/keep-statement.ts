import type { Connection, Pool } from '#shared/database/pool.ts';
import { writeCarried } from './decided-rows.ts';
import { type Authenticating, combined, isSame, type Statement } from './statement.ts';
import { readFileIn, writeFileIn } from './statement-file.ts';
import { readRow, writeRow } from './statement-row.ts';

/** The database and the folder of the audit, which both say it. */
type Keeping = {
  readonly pool: Pick<Pool | Connection, 'query'>;
  readonly auditDir?: string | undefined;
  /** If the folder cannot be written; without it, that fails. */
  readonly onUnwritable?: ((error: unknown) => void) | undefined;
};

/** All that the row and the file say. */
export const findStatement = async (
  { pool, auditDir }: Keeping,
  authenticating: Authenticating,
): Promise<Statement | undefined> => {
  const row = await readRow(pool, authenticating);
  const file = auditDir === undefined ? undefined : await readFileIn(auditDir, authenticating);
  return row && file ? combined(row, file) : (row ?? file);
};

/** Each fails only if somebody has changed the row meanwhile. */
const ATTEMPTS_MAX = 50;

/**
 * Adds it to what the row and the file say, until both have all of it, and returns that: other processes may add
 * something at the same moment, and somebody else may set the row back.
 */
export const keepStatement = async (
  keeping: Keeping,
  written: Statement,
  authenticating: Authenticating,
): Promise<Statement> => {
  const { pool, auditDir } = keeping;
  await writeCarried(pool, written.decided);
  let kept = written;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    kept = await writeRow(pool, kept, authenticating);
    if (auditDir === undefined) return kept;
    kept = await addToFile({ ...keeping, auditDir }, kept, authenticating);
    const row = await readRow(pool, authenticating);
    if (isSame(row, kept)) return kept;
    if (row !== undefined) kept = combined(row, kept);
  }
  throw new Error(`others change all the time what the database says about the log ${written.log}`);
};

const addToFile = async (
  { auditDir, onUnwritable }: Keeping & { readonly auditDir: string },
  row: Statement,
  authenticating: Authenticating,
): Promise<Statement> => {
  const file = await readFileIn(auditDir, authenticating);
  const both = file === undefined ? row : combined(row, file);
  if (isSame(file, both)) return both;
  const writing = writeFileIn(auditDir, both, authenticating);
  await (onUnwritable === undefined ? writing : writing.catch(onUnwritable));
  return both;
};
