import { isUndefinedTable } from '#shared/database/failures.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { type Batch, Decided, isContentOf } from './decided.ts';

/** Before a statement names them. */
export const writeDigests = async (
  pool: Pick<Pool | Connection, 'query'>,
  { sha256 }: Batch,
  digests: Buffer,
): Promise<void> => {
  await (pool as Pool).query(
    `insert into public.decided_events (sha256, digests) values (decode($1, 'hex'), $2) on conflict (sha256) do update set digests = $2`,
    [sha256, digests],
  );
};

/** Reads the events of those decisions that are not known yet; some may be missing. */
export const readDecided = async (
  pool: Pick<Pool, 'query'>,
  batches: readonly Batch[],
  known: Decided,
): Promise<Decided> => {
  const contents = new Map<string, Buffer>();
  for (const batch of batches) {
    const digests = known.contentOf(batch) ?? (await readDigests(pool, batch));
    if (digests !== undefined && isContentOf(digests, batch)) contents.set(batch.sha256, digests);
  }
  return new Decided(batches, contents);
};

const readDigests = async (pool: Pick<Pool, 'query'>, { sha256 }: Batch): Promise<Buffer | undefined> => {
  try {
    const { rows } = await pool.query<{ digests: Buffer }>(
      `select digests from public.decided_events where sha256 = decode($1, 'hex')`,
      [sha256],
    );
    return rows[0]?.digests;
  } catch (error) {
    if (isUndefinedTable(error)) return undefined;
    throw error;
  }
};
