import { readFile } from 'node:fs/promises';
import { sqlName } from '#kernel/base/names.ts';
import type { TableDefinition } from '#kernel/rows/definition.ts';
import { meaningOf } from '#kernel/rows/meaning.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Tables } from '#shared/read-model/tables.ts';
import { type Fingerprint, hashOf, isMadeBy, type Marks, marksIn } from './fingerprint.ts';
import { digestFingerprintOf } from './kept-digest.ts';

/**
 * The SQL that creates a read model, in two parts: filling it from a whole log is faster without the indexes.
 */
export type Definition = {
  readonly tables: string;
  readonly indexes: readonly string[];
  /** The tables as the first releases created them, if the same rows are in both. */
  readonly firstTables: string;
  readonly fingerprint: Fingerprint;
};

/** Composes the domain’s tables, and reads the others from read-model.sql. */
export const readDefinition = async (tables: Tables): Promise<Definition> => {
  const ofViews = await definitionOfViews(tables);
  const text = await readFile(new URL('./read-model.sql', import.meta.url), 'utf8');
  const beside = text
    .replaceAll(/^\s*--.*\n/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter(Boolean);
  const derived = [...tables.ofStreams, ...tables.views].map(({ definition }) => definition);
  const statementsWith = (tableOf: (definition: TableDefinition) => string) => [
    ...derived.flatMap((each) => [tableOf(each), ...each.indexes.map(named)]),
    ...beside,
    ...ofViews.tables,
    ...derived.flatMap(({ unsampled }) => unsampled ?? []),
  ];
  const statements = statementsWith(({ table }) => table);
  const firstStatements = statementsWith(({ table, firstTable = table }) => firstTable);
  // No table shows how its sums are computed.
  const sums = tables.all.flatMap(({ items }) =>
    items.flatMap((each) => each.derived.map(({ column, sql }) => `${each.name} ${column}: ${sql}`)),
  );
  const shares = tables.all.flatMap((table) => table.shares.map(({ share }) => JSON.stringify(share)));
  // Old rows hold the data of former event versions; those of kernel kinds began with these versions.
  const versions = tables.all.flatMap(({ aggregate }) =>
    Object.values(aggregate.isManaged ? {} : aggregate.events).flatMap(({ type, version }) =>
      version > 1 ? [`${type}: ${version}`] : [],
    ),
  );
  const isIndex = (statement: string) =>
    statement.startsWith('create index ') && !isNeededByWrites(tables, statement);
  return {
    tables: statements.filter((statement) => !isIndex(statement)).join(';\n'),
    indexes: statements.filter(isIndex),
    firstTables: firstStatements.filter((statement) => !isIndex(statement)).join(';\n'),
    fingerprint: {
      schema: hashOf(
        [
          ...firstStatements,
          ...digestFingerprintOf(tables),
          ...sums,
          ...ofViews.statements,
          ...shares,
          ...versions,
        ]
          .join(';')
          .replaceAll(/\s+/g, ' '),
      ),
      rows: rowsOf(tables),
    },
  };
};

type OfViews = { readonly tables: readonly string[]; readonly statements: readonly string[] };

/** Its code is loaded for a domain with views. */
const definitionOfViews = async (tables: Tables): Promise<OfViews> => {
  if (tables.views.length === 0) return { tables: [], statements: [] };
  const [{ STREAM_TABLES }, { keptViewsOf, sumsOf }] = await Promise.all([
    import('#kernel/rows/view-streams.ts'),
    import('./views.ts'),
  ]);
  return { tables: STREAM_TABLES, statements: [...sumsOf(tables), ...keptViewsOf(tables)] };
};

const HASH_CHARACTERS = 10;

/** The versions of kernel events stand for their effect. */
const rowsOf = ({ all }: Tables): Fingerprint['rows'] =>
  Object.fromEntries(
    all.flatMap(({ aggregate }) =>
      Object.entries(aggregate.isManaged ? {} : meaningOf(aggregate)).map(([part, text]) => [
        part,
        hashOf(text).slice(0, HASH_CHARACTERS),
      ]),
    ),
  );

const named = (index: string): string =>
  index.replace(/^create index (\w+)/, (_, name: string) => `create index ${sqlName(name)}`);

/** Deletions find the rows of a user by these indexes, even while a read model is being filled. */
const isNeededByWrites = (tables: Tables, statement: string): boolean =>
  tables.ofStreams.some(
    ({ name, person }) => person !== 'id' && statement.includes(` on ${name} (${person}, `),
  );

/** Whether this release can write to a version. */
export const isOfThisRelease = async (pool: Pool, tables: Tables, schema: string): Promise<boolean> => {
  const { rows } = await pool.query<Marks>(`select ${marksIn('$1')}`, [schema]);
  return isMadeBy((await readDefinition(tables)).fingerprint, rows[0]);
};
