import type pg from 'pg';
import type { Domain, Row } from '#kernel/registry/registry.ts';
import type { ItemSource, Source } from '../../query/rows/source.ts';
import { isPresent, sourcesOf } from '../../query/rows/sources.ts';
import { viewSourcesOf } from '../../query/views/source.ts';
import { inDatabase } from '../database/search-everywhere.ts';
import type { Asking } from './declared.ts';

/** The whole read model in memory, as its tables have it. */
export type Rows = {
  /** The rows that have not ended. */
  of(source: Source): readonly Row[];
  /** The rows of a view. */
  ofTable(table: string): readonly Row[];
  items(source: ItemSource, row: Row): readonly Row[];
  /** Includes rows that are kept only as a name for references. */
  byId(source: Source, id: unknown): Row | undefined;
  readonly find: Asking['find'];
  readonly stateOf: (source: Source, row: Row) => Row;
};

export const readRows = (domain: Domain, url: string): Promise<Rows> =>
  inDatabase(url, async (client) => {
    const { all } = sourcesOf(domain);
    const tables = new Map<string, readonly Row[]>();
    for (const source of all)
      for (const { table } of [source, ...source.items]) tables.set(table, await rowsOf(client, table));
    for (const { table } of viewSourcesOf(domain)) tables.set(table, await rowsOf(client, table));
    const of = (source: Source): readonly Row[] =>
      (tables.get(source.table) ?? []).filter((row) => isPresent(source, row));
    const itemsIn = (source: ItemSource, row: Row): readonly Row[] =>
      (tables.get(source.table) ?? []).filter((item) => item[source.of] === row.id);
    const state = (source: Source, row: Row): Row => ({
      ...stateOf(source, row),
      ...Object.fromEntries(
        source.items.map((items) => [
          items.list.name,
          itemsIn(items, row).map((item) => stateOf(items, item)),
        ]),
      ),
    });
    const byId = (source: Source, id: unknown): Row | undefined =>
      (tables.get(source.table) ?? []).find((row) => row.id === id);
    return {
      of,
      ofTable: (table) => tables.get(table) ?? [],
      byId,
      stateOf: state,
      items: itemsIn,
      find(kind, id) {
        const source = sourcesOf(domain).of(kind);
        const row = source && of(source).find((each) => each.id === id);
        return source && row && state(source, row);
      },
    };
  });

/** As JSON: times are texts, and ids are numbers. */
const rowsOf = async (client: pg.Client, table: string): Promise<readonly Row[]> => {
  const { rows } = await client.query<{ row: Row }>(`select row_to_json(t) as row from ${table} t`);
  return rows.map(({ row }) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, isMoment(value) ? iso(value) : value]),
    ),
  );
};

const isMoment = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}T[\d:.]+[+-]\d{2}:\d{2}$/.test(value);
const iso = (text: string): string => new Date(text).toISOString();

const stateOf = ({ members }: Pick<Source, 'members'>, row: Row): Row => ({
  id: row.id,
  ...Object.fromEntries(members.map(({ name, column }) => [name, row[column]])),
});
