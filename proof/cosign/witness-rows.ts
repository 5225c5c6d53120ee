import type { Pool } from '#shared/database/pool.ts';

/** A witness of this log, by the address where it is asked. */
export type WitnessRow = {
  readonly url: string;
  readonly names: readonly string[];
  /** The head that it has cosigned last; 0 for none. */
  readonly size: number;
  readonly cosignatures: string | null;
  readonly cosignedAt: Date | null;
  readonly problem: string | null;
  readonly failingSince: Date | null;
  readonly isRefusing: boolean;
};

/** The newest head that enough witnesses have cosigned. */
export type WitnessedHead = { readonly size: number; readonly note: string; readonly at: Date };

export const readWitnesses = async (pool: Pool, log: string): Promise<readonly WitnessRow[]> => {
  const { rows } = await pool.query<WitnessRow>(
    `select url, names, size, cosignatures, cosigned_at as "cosignedAt", problem, failing_since as "failingSince",
       is_refusing as "isRefusing"
     from audit.witness where log = $1 order by names, url`,
    [log],
  );
  return rows;
};

export const readWitnessed = async (pool: Pool, log: string): Promise<WitnessedHead | undefined> => {
  const { rows } = await pool.query<WitnessedHead>(
    'select size, note, witnessed_at as at from audit.witnessed_head where log = $1',
    [log],
  );
  return rows[0];
};

type Witness = { readonly log: string; readonly url: string; readonly names: readonly string[] };

/** A late answer to a process before does not replace a newer one. */
export const saveCosigned = async (
  pool: Pool,
  { log, url, names }: Witness,
  { size, cosignatures, at }: { readonly size: number; readonly cosignatures: string; readonly at: Date },
): Promise<void> => {
  await pool.query(
    `insert into audit.witness as known (log, url, names, size, cosignatures, cosigned_at)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (log, url) do update set names = $3, size = $4, cosignatures = $5, cosigned_at = $6,
       problem = null, failing_since = null, is_refusing = false
     where known.size <= excluded.size`,
    [log, url, names, size, cosignatures, at],
  );
};

type Lines = {
  readonly rows: readonly Pick<WitnessRow, 'url' | 'cosignatures'>[];
  readonly endpoints: readonly { readonly url: string; readonly cosignatures: string }[];
};

/** Replaces the cosignatures of rows by those of the endpoints, unless others have come meanwhile. */
export const replaceLines = async (pool: Pool, log: string, { rows, endpoints }: Lines): Promise<void> => {
  for (const { url, cosignatures: read } of rows) {
    const kept = endpoints.find((each) => each.url === url)?.cosignatures;
    if (read === null || kept === undefined || kept === read) continue;
    await pool.query(
      'update audit.witness set cosignatures = $4 where log = $1 and url = $2 and cosignatures = $3',
      [log, url, read, kept],
    );
  }
};

/** A witness that has refused refuses until it cosigns again: that it is down takes nothing back. */
export const saveProblem = async (
  pool: Pool,
  { log, url, names }: Witness,
  { problem, isRefusing, at }: { readonly problem: string; readonly isRefusing: boolean; readonly at: Date },
): Promise<void> => {
  await pool.query(
    `insert into audit.witness as known (log, url, names, problem, is_refusing, failing_since)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (log, url) do update set names = $3, is_refusing = known.is_refusing or $5,
       problem = case when known.is_refusing and not $5 then known.problem else $4 end,
       failing_since = coalesce(known.failing_since, $6)`,
    [log, url, names, problem, isRefusing, at],
  );
};

/** A head is never replaced by an older one. */
export const saveWitnessed = async (pool: Pool, log: string, head: WitnessedHead): Promise<void> => {
  await pool.query(
    `insert into audit.witnessed_head as known (log, size, note, witnessed_at) values ($1, $2, $3, $4)
     on conflict (log) do update set size = $2, note = $3, witnessed_at = $4 where known.size <= $2`,
    [log, head.size, head.note, head.at],
  );
};

export const forgetWitnessed = async (pool: Pool, log: string): Promise<void> => {
  await pool.query('delete from audit.witnessed_head where log = $1', [log]);
};

/** Adds the witnesses that were never asked, and removes those that are no longer asked. */
export const keepWitnesses = async (pool: Pool, witnesses: readonly Witness[]): Promise<void> => {
  for (const { log, url, names } of witnesses)
    await pool.query(
      'insert into audit.witness (log, url, names) values ($1, $2, $3) on conflict (log, url) do update set names = $3',
      [log, url, names],
    );
  await pool.query(
    'delete from audit.witness where (log, url) not in (select * from unnest($1::text[], $2::text[]))',
    [witnesses.map(({ log }) => log), witnesses.map(({ url }) => url)],
  );
};

/** Without witnesses, events are proven by the newest head. */
export const forgetWitnesses = async (pool: Pool): Promise<void> => {
  await pool.query('delete from audit.witness');
  await pool.query('delete from audit.witnessed_head');
};
