import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Pool } from '#shared/database/pool.ts';
import { KEPT_DIGEST } from './kept-digest.ts';

/** The SQL that makes a read model, in two parts for who fills it from a whole log: rows are written faster without the indexes. */
export type Definition = {
  readonly tables: string;
  readonly indexes: readonly string[];
  /** Differs where the tables do: a read model of another definition cannot be written by this release. */
  readonly fingerprint: string;
};

/** What a deleted user wrote and registered is found by them, also while a read model is being filled. */
const NEEDED_BY_WRITES = /^create index (?:comments_by_author|webhooks_by_owner) /;

export const readDefinition = async (): Promise<Definition> => {
  const text = await readFile(new URL('./read-model.sql', import.meta.url), 'utf8');
  const statements = text
    .replaceAll(/^\s*--.*\n/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter(Boolean);
  const isIndex = (statement: string) => statement.startsWith('create index ') && !NEEDED_BY_WRITES.test(statement);
  return {
    tables: statements.filter((statement) => !isIndex(statement)).join(';\n'),
    indexes: statements.filter(isIndex),
    fingerprint: createHash('sha256')
      .update([...statements, ...KEPT_DIGEST].join(';').replaceAll(/\s+/g, ' '))
      .digest('base64url'),
  };
};

/** Whether this release can write into a version. */
export const isOfThisRelease = async (pool: Pool, schema: string): Promise<boolean> => {
  const { rows } = await pool.query<{ fingerprint: string | null }>(
    `select obj_description(to_regnamespace($1), 'pg_namespace') as fingerprint`,
    [schema],
  );
  return rows[0]?.fingerprint === (await readDefinition()).fingerprint;
};
