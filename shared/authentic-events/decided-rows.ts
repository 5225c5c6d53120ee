import { isUndefinedTable } from '#shared/database/failures.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { type Batch, carriedIn, Decided, isContentOf } from './decided.ts';

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

/** The events of decisions that a former release has written into its statement, which then loses them. */
export const writeCarried = async (
  pool: Pick<Pool | Connection, 'query'>,
  batches: readonly Batch[],
): Promise<void> => {
  for (const batch of batches) {
    const digests = carriedIn(batch);
    if (digests !== undefined) await writeDigests(pool, batch, digests);
  }
};

/** Reads the events of those decisions that are not known yet; some may be missing. */
export const readDecided = async (
  pool: Pick<Pool | Connection, 'query'>,
  batches: readonly Batch[],
  known: Decided,
): Promise<Decided> => {
  const contents = new Map<string, Buffer>();
  const unknown: Batch[] = [];
  for (const batch of batches) {
    const digests = known.contentOf(batch) ?? carriedIn(batch);
    if (digests === undefined) unknown.push(batch);
    else contents.set(batch.sha256, digests);
  }
  const read = unknown.length === 0 ? new Map<string, Buffer>() : await readDigests(pool, unknown);
  for (const batch of unknown) {
    const digests = read.get(batch.sha256);
    if (digests !== undefined && isContentOf(digests, batch)) contents.set(batch.sha256, digests);
  }
  return new Decided(batches, contents);
};

const namesOf = (batches: readonly Batch[]): readonly string[] => batches.map(({ sha256 }) => sha256);

const readDigests = async (
  pool: Pick<Pool | Connection, 'query'>,
  batches: readonly Batch[],
): Promise<ReadonlyMap<string, Buffer>> => {
  const { rows } = await (pool as Pool)
    .query<{ name: string; digests: Buffer }>(
      `select encode(sha256, 'hex') as name, digests from public.decided_events
       where sha256 = any(select decode(name, 'hex') from unnest($1::text[]) as asked (name))`,
      [namesOf(batches)],
    )
    .catch(ifUndefinedTable);
  return new Map(rows.map(({ name, digests }) => [name, digests]));
};

/** The decisions whose row somebody has removed or changed. */
export const lostOf = async (
  pool: Pick<Pool, 'query'>,
  batches: readonly Batch[],
): Promise<readonly Batch[]> => {
  if (batches.length === 0) return [];
  const { rows } = await pool
    .query<{ name: string }>(
      `select encode(sha256, 'hex') as name from public.decided_events
       where sha256 = any(select decode(name, 'hex') from unnest($1::text[]) as asked (name))
         and pg_catalog.sha256(digests) = decided_events.sha256`,
      [namesOf(batches)],
    )
    .catch(ifUndefinedTable);
  const there = new Set(rows.map(({ name }) => name));
  return batches.filter(({ sha256 }) => !there.has(sha256));
};

const ifUndefinedTable = (error: unknown): { readonly rows: readonly [] } => {
  if (isUndefinedTable(error)) return { rows: [] };
  throw error;
};
