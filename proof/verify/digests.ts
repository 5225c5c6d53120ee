import type { Position } from '#kernel/base/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import { isOfThisRelease } from '#shared/projection/definition.ts';
import { definitionIn } from '#shared/projection/fingerprint.ts';
import { computeDigest, computeDigestOn, readKeptDigest } from '#shared/projection/kept-digest.ts';
import type { Mending } from '#shared/projection/retry.ts';
import type { Tables } from '#shared/read-model/tables.ts';
import { type HeadStatement, readStatement } from '../stored/signed-head.ts';
import type { Findings } from './findings.ts';

/** A signed head with digests of the read model, which prove a past that has no rows any more. */
type SignedDigest = {
  readonly count: number;
  readonly position: Position;
  readonly digests: Readonly<Record<string, string>>;
};

/**
 * The newest digest at or before a position, for a read model built like the live one. The check of the chain
 * verifies its signature and its copy outside the database. There is none if an operator has skipped an event
 * since, because that changed the read model.
 */
export const readSignedDigest = async (
  pool: Pool,
  tables: Tables,
  upTo: Position,
): Promise<SignedDigest | undefined> => {
  if (!(await isOfThisRelease(pool, tables, LIVE_SCHEMA))) return undefined;
  const { rows } = await pool.query<{ statement: string }>(
    `select statement from audit.head
     where (statement::json->'readModel'->>'position')::bigint <= $1 and statement::json->'readModel'->>'definition' = ${definitionIn('$2')}
       and (statement::json->>'at')::timestamptz > (select coalesce(max(at), '-infinity') from public.projection_skip)
     order by count desc limit 1`,
    [upTo, LIVE_SCHEMA],
  );
  const { count, readModel }: Partial<HeadStatement> = rows[0] ? readStatement(rows[0].statement) : {};
  return count && readModel ? { count, ...readModel } : undefined;
};

export const compareSignedDigest = async (
  { pool, tables }: Mending,
  schema: string,
  signed: SignedDigest,
  findings: Findings,
): Promise<void> => {
  const { count, position, digests } = signed;
  reportDifferences({ recorded: await computeDigest(pool, tables, schema), found: digests }, (difference) =>
    findings.add({ kind: 'signed_digest_different', count, position, ...difference }),
  );
};

/** Signed heads will contain the digest that the projector keeps, so it must match the rows. */
export const compareKeptDigest = async (
  connection: Connection,
  tables: Tables,
  schema: string,
  findings: Findings,
): Promise<void> => {
  const kept = await readKeptDigest(connection);
  if (!kept) return;
  reportDifferences(
    { recorded: await computeDigestOn(connection, tables, schema), found: kept.digests },
    (difference) => findings.add({ kind: 'kept_digest_different', position: kept.position, ...difference }),
  );
};

type Digests = Readonly<Record<string, string>>;
type Difference = { readonly table: string; readonly recorded: string; readonly found: string };

const reportDifferences = (
  { recorded, found }: { recorded: Digests; found: Digests },
  report: (difference: Difference) => void,
): void => {
  for (const [table, digest] of Object.entries(recorded)) {
    const other = found[table] ?? 'nothing';
    if (other !== digest) report({ table, recorded: digest, found: other });
  }
};
