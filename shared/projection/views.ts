import type { Position } from '#kernel/base/brands.ts';
import { beginStreamOf, keepingReadersOf } from '#kernel/rows/view-streams.ts';
import { keepingOf, sumOf } from '#kernel/rows/views.ts';
import type { Connection } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import type { Tables } from '#shared/read-model/tables.ts';

/** The statements that make a read model keep its views. */
export const keptViewsOf = ({ views }: Tables): readonly string[] =>
  views.flatMap((view) => [
    ...view.shares.flatMap((share) => keepingOf(view, share, view.shares)),
    ...keepingReadersOf(view, view.asked),
    beginStreamOf(view),
  ]);

export const sumsOf = ({ views }: Tables): readonly string[] =>
  views.map((view) => `${view.name}: ${sumOf(view, view.shares)}`);

/**
 * Computes the views of the first read model in the search path, and keeps them up to date from then on. A
 * fill from a whole log calls it at the end, because one sum over all costs less than every single change.
 */
export const keepViews = async (connection: Connection, tables: Tables): Promise<void> => {
  for (const view of tables.views) {
    const columns = Object.keys(view.columns).filter((each) => !view.averages.includes(each));
    await connection.query(
      `insert into ${view.name} (${columns.join(', ')}) select ${columns.join(', ')} from (${sumOf(view, view.shares)}) summed`,
    );
  }
  for (const statement of keptViewsOf(tables)) await connection.query(statement);
};

/** Replaces the tables of views by SQL views over their shares, for a read model that serves no traffic. */
export const computeViewsOnRead = async (connection: Connection, tables: Tables): Promise<void> => {
  for (const view of tables.views)
    await connection.query(
      `drop table ${view.name}; create view ${view.name} as ${sumOf(view, view.shares)}`,
    );
};

/**
 * After this, rows of the live read model may differ although nothing has happened: subscribers to views
 * start over.
 */
export const restartViewStreams = async (
  connection: Connection,
  { views }: Tables,
  position: Position,
): Promise<void> => {
  if (views.length === 0) return;
  await connection.query(`update ${LIVE_SCHEMA}.view_stream set generation = gen_random_uuid(), since = $1`, [
    position,
  ]);
};
