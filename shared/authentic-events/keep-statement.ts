import type { Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';
import { migrateAuthenticEvents } from './migrate.ts';
import { type Authenticating, combined, isSame, type Statement } from './statement.ts';
import { readFileIn, writeFileIn } from './statement-file.ts';
import { writeRow } from './statement-row.ts';

type Keeping = {
  readonly pool: Pool;
  readonly auditDir?: string | undefined;
  readonly log: Pick<Log, 'warn'>;
};

/** Writes it wherever it is missing, and returns what counts: another process may have been faster. */
export const keepStatement = async (
  { pool, auditDir, log }: Keeping,
  kept: Statement,
  authenticating: Authenticating,
): Promise<Statement> => {
  await migrateAuthenticEvents(pool);
  const row = await writeRow(pool, kept, authenticating);
  if (auditDir === undefined) return row;
  const file = await readFileIn(auditDir, authenticating);
  const both = file === undefined ? row : combined(row, file);
  if (!isSame(file, both))
    await writeFileIn(auditDir, both, authenticating).catch((err: unknown) =>
      log.warn({ err }, `It cannot be noted in ${auditDir} since when the events of the log are authentic.`),
    );
  return both;
};
