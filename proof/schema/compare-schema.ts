import { isDeepStrictEqual } from 'node:util';
import {
  type Applied,
  expectedCatalog,
  ownSchemas,
  readApplied,
} from '#shared/database/catalog/expected-catalog.ts';
import { type Catalog, readCatalog } from '#shared/database/catalog/read-catalog.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { isOfThisRelease } from '#shared/projection/definition.ts';
import { emptyReadModel } from '#shared/projection/expected-catalog.ts';
import type { Tables } from '#shared/read-model/tables.ts';
import type { SchemaFinding } from '#shared/rest/verification-report.ts';
import type { Difference } from '../stored/watch.ts';

type Dependencies = { readonly pool: Pool; readonly tables: Tables };

/**
 * Compares the tables, columns, constraints, triggers, rules, policies and functions of our schemas with those
 * that the migrations make, and those of the live read model with its definition. Others are found if they
 * can change, hide or refuse what is written or read.
 */
export const compareSchema = async (dependencies: Dependencies): Promise<readonly SchemaFinding[]> => {
  const found = await compareOnce(dependencies);
  // A migration or a rebuild may have been under way.
  return found.length === 0 || isDeepStrictEqual(found, await compareOnce(dependencies)) ? found : [];
};

const compareOnce = async ({ pool, tables }: Dependencies): Promise<readonly SchemaFinding[]> => {
  const isOfLive = await isOfThisRelease(pool, tables, LIVE_SCHEMA);
  const applied = await readApplied(pool);
  const expected = await expectedOnce({ pool, tables }, applied, isOfLive);
  const schemas = [...(await ownSchemas()), ...(isOfLive ? [LIVE_SCHEMA] : [])];
  const found = await inTransaction(pool, (connection) => readCatalog(connection, schemas));
  return [
    ...expected.flatMap(({ name, forms, acts }): readonly SchemaFinding[] => {
      const { definition } = found.get(name) ?? {};
      // A plain index that is gone makes reads slower, and no more.
      if (definition === undefined) return acts ? [{ kind: 'schema_missing', object: name }] : [];
      return forms.includes(definition) ? [] : [{ kind: 'schema_different', object: name }];
    }),
    ...surplusOf(found, new Set(expected.map(({ name }) => name))),
  ];
};

/** The parts of tables that are not ours only count if they refuse changes of ours. */
const surplusOf = (found: Catalog, expected: ReadonlySet<string>): readonly SchemaFinding[] => {
  const relations = [...expected].flatMap(relationIn);
  const others = [...found.keys()].filter((name) => !expected.has(name)).flatMap(relationIn);
  const isOf = (name: string, names: readonly string[]) => names.some((each) => name.endsWith(` ${each}`));
  const isOfOthers = ({ name, definition }: { readonly name: string; readonly definition: string }) =>
    isOf(name, others) &&
    !isOf(name, relations) &&
    !relations.some((each) => definition.includes(`REFERENCES ${each}(`));
  return [...found.values()].flatMap((each) =>
    each.acts && !expected.has(each.name) && !isOfOthers(each)
      ? [{ kind: 'schema_extra', object: each.name }]
      : [],
  );
};

const relationIn = (name: string): readonly string[] =>
  name.startsWith('table ') && !name.includes(' that inherits from ') ? [name.slice('table '.length)] : [];

type Expected = {
  readonly name: string;
  /** The definition of this release, and that of the first ones. */
  readonly forms: readonly string[];
  readonly acts: boolean;
};

/** Neither the migrations nor the definition change while a process runs; it takes some 300 ms. */
const expectedOnce = async (
  { pool, tables }: Dependencies,
  applied: readonly Applied[],
  isOfLive: boolean,
): Promise<readonly Expected[]> => {
  const { rows } = await pool.query<{ version: string }>(
    `select current_setting('server_version_num') as version`,
  );
  const key = [rows[0]?.version, isOfLive, ...applied.map(({ file }) => file)].join(' ');
  const known = made.get(tables);
  if (known?.key === key) return known.expected;
  const read = (form: 'present' | 'first') => emptyReadModel(tables, LIVE_SCHEMA, form);
  const present = await expectedCatalog(pool, applied, isOfLive ? [read('present')] : []);
  const first = isOfLive ? await expectedCatalog(pool, [], [read('first')]) : undefined;
  const expected = [...present.values()].map(({ name, definition, acts }) => ({
    name,
    forms: [definition, first?.get(name)?.definition ?? definition],
    acts: acts || !name.startsWith('index '),
  }));
  made.set(tables, { key, expected });
  return expected;
};

const made = new WeakMap<Tables, { readonly key: string; readonly expected: readonly Expected[] }>();

/** In the form of the watch. */
export const differenceOfSchema = ({ kind, object }: SchemaFinding): Difference => ({
  ...{ kind, stream: null, version: null, position: null },
  fields: [object],
});
