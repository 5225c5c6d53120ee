import type { StreamName } from '#kernel/base/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import type { ProjectedTable, Tables } from '#shared/read-model/tables.ts';
import { expectedItems, expectedRow, expectedShares } from './expected-row.ts';

/** Creates tables for the deciders’ states, beside the rows of the projection. */
export const createFoldTables = async (
  connection: Connection,
  tables: Tables,
  schema: string,
): Promise<void> => {
  for (const table of tables.all) {
    await connection.query(
      `create unlogged table ${schema}.fold_${table.name} (id bigint primary key, version integer not null, state text not null, expected text not null${partsOf(
        table,
      )
        .map((each) => `, expected_${each.name} text not null`)
        .join('')})`,
    );
  }
  await connection.query(`create unlogged table ${schema}.fold_departed (user_id bigint primary key)`);
};

/** Further tables with data of an aggregate. */
const partsOf = ({ items, shares }: ProjectedTable): readonly { readonly name: string }[] => [
  ...items,
  ...shares,
];

type Row = { readonly table: ProjectedTable; readonly id: number };
type Stored = Row & { readonly stream: StreamName; readonly version: number; readonly state: unknown };

export const loadStates = async (
  pool: Pool,
  schema: string,
  streams: ReadonlyMap<StreamName, Row>,
): Promise<readonly Stored[]> => {
  const loaded: Stored[] = [];
  for (const [table, wanted] of Map.groupBy(streams, ([, row]) => row.table)) {
    const streamOf = new Map(wanted.map(([stream, { id }]) => [id, stream]));
    const { rows } = await pool.query<{ id: number; version: number; state: string }>(
      `select id, version, state from ${schema}.fold_${table.name} where id = any($1)`,
      [[...streamOf.keys()]],
    );
    for (const { id, version, state } of rows) {
      loaded.push({ table, id, version, state: JSON.parse(state), stream: streamOf.get(id) as StreamName });
    }
  }
  return loaded;
};

const ROWS_MAX = 2_000;
/** JSON never contains it unescaped, and splitting a text there is cheaper than reading an array. */
const SEPARATOR = '\u001e';

/** Deleted users are excluded on comparison, because they may be deleted later. */
const nobody = () => false;

/** Stores each state for reloading, and as the row it corresponds to. */
export const saveStates = async (
  pool: Pool,
  schema: string,
  states: readonly Omit<Stored, 'stream'>[],
): Promise<void> => {
  for (const [table, all] of Map.groupBy(states, (each) => each.table)) {
    for (let from = 0; from < all.length; from += ROWS_MAX) {
      const rows = all.slice(from, from + ROWS_MAX);
      const parts = partsOf(table);
      const expected =
        parts.length === 0
          ? []
          : rows.map(({ state }) => ({
              ...expectedItems(table, state, nobody),
              ...expectedShares(table, state),
            }));
      const texts = [
        rows.map(({ state }) => JSON.stringify(state)),
        rows.map(({ state }) => JSON.stringify(expectedRow(table, state, nobody) ?? null)),
        ...parts.map(({ name }) => expected.map((each) => JSON.stringify(each[name]))),
      ];
      await pool.query(
        `insert into ${schema}.fold_${table.name} select * from rows from (unnest($1::bigint[]), unnest($2::integer[]), ${texts.map((_, index) => `string_to_table($${index + 3}, E'\\x1e')`).join(', ')})
         on conflict (id) do update set version = excluded.version, state = excluded.state, expected = excluded.expected${parts.map(({ name }) => `, expected_${name} = excluded.expected_${name}`).join('')}`,
        [
          rows.map(({ id }) => id),
          rows.map(({ version }) => version),
          ...texts.map((each) => each.join(SEPARATOR)),
        ],
      );
    }
  }
};

export const addDeparted = async (pool: Pool, schema: string, users: readonly number[]): Promise<void> => {
  if (users.length === 0) return;
  await pool.query(
    `insert into ${schema}.fold_departed select distinct unnest($1::bigint[]) on conflict do nothing`,
    [users],
  );
};
