import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { sqlName } from '#kernel/registry/names.ts';
import { STREAM_TABLES } from '#kernel/rows/view-streams.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Tables } from '#shared/read-model/tables.ts';
import { digestToldOf } from './kept-digest.ts';
import { keptViewsOf, sumsOf } from './views.ts';

/** The SQL that makes a read model, in two parts for who fills it from a whole log: rows are written faster without the indexes. */
export type Definition = {
  readonly tables: string;
  readonly indexes: readonly string[];
  /** Differs where the tables do, or the versions of what they are made of: a read model of another definition cannot be written by this release. */
  readonly fingerprint: string;
};

/** Says what the domain's tables are, and reads from read-model.sql what there is beside them. */
export const readDefinition = async (tables: Tables): Promise<Definition> => {
  const text = await readFile(new URL('./read-model.sql', import.meta.url), 'utf8');
  const beside = text
    .replaceAll(/^\s*--.*\n/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter(Boolean);
  const derived = [...tables.ofStreams, ...tables.views].map(({ definition }) => definition);
  const statements = [
    ...derived.flatMap(({ table, indexes }) => [table, ...indexes.map(named)]),
    ...beside,
    ...(tables.views.length === 0 ? [] : STREAM_TABLES),
    ...derived.flatMap(({ unsampled }) => unsampled ?? []),
  ];
  // What numbers follow from, no table says.
  const sums = tables.all.flatMap(({ items }) =>
    items.flatMap((each) => each.derived.map(({ column, sql }) => `${each.name} ${column}: ${sql}`)),
  );
  const shares = tables.all.flatMap((table) => table.shares.map(({ share }) => JSON.stringify(share)));
  // Rows of before are what the former version said; those of the kernel's own were made with these versions.
  const versions = tables.all.flatMap(({ aggregate }) =>
    Object.values(aggregate.isManaged ? {} : aggregate.events).flatMap(({ type, version }) => (version > 1 ? [`${type}: ${version}`] : [])),
  );
  const projections = tables.all.flatMap(({ aggregate }) => aggregate.projectionVersions.map((each) => `${aggregate.name}: ${each}`));
  const isIndex = (statement: string) => statement.startsWith('create index ') && !isNeededByWrites(tables, statement);
  return {
    tables: statements.filter((statement) => !isIndex(statement)).join(';\n'),
    indexes: statements.filter(isIndex),
    fingerprint: createHash('sha256')
      .update(
        [...statements, ...digestToldOf(tables), ...sums, ...sumsOf(tables), ...keptViewsOf(tables), ...shares, ...versions, ...projections]
          .join(';')
          .replaceAll(/\s+/g, ' '),
      )
      .digest('base64url'),
  };
};

const named = (index: string): string => index.replace(/^create index (\w+)/, (_, name: string) => `create index ${sqlName(name)}`);

/** What a deleted user wrote and registered is found by them, also while a read model is being filled. */
const isNeededByWrites = (tables: Tables, statement: string): boolean =>
  tables.ofStreams.some(({ name, person }) => person !== 'id' && statement.includes(` on ${name} (${person}, `));

/** Whether this release can write into a version. */
export const isOfThisRelease = async (pool: Pool, tables: Tables, schema: string): Promise<boolean> => {
  const { rows } = await pool.query<{ fingerprint: string | null }>(
    `select obj_description(to_regnamespace($1), 'pg_namespace') as fingerprint`,
    [schema],
  );
  return rows[0]?.fingerprint === (await readDefinition(tables)).fingerprint;
};
