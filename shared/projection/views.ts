import { beginStreamOf, keepingReadersOf } from '#kernel/rows/view-streams.ts';
import { keepingOf, sumOf } from '#kernel/rows/views.ts';
import type { Position } from '#shared/brands.ts';
import type { Connection } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/read-model/read-model.ts';
import type { Tables } from '#shared/read-model/tables.ts';

/** What a read model has to have for its views to be kept. */
export const keptViewsOf = ({ views }: Tables): readonly string[] =>
  views.flatMap((view) => [
    ...view.shares.flatMap((share) => keepingOf(view, share, view.shares)),
    ...keepingReadersOf(view, view.asked),
    beginStreamOf(view),
  ]);

/** What each view comes to. */
export const sumsOf = ({ views }: Tables): readonly string[] =>
  views.map((view) => `${view.name}: ${sumOf(view, view.shares)}`);

/**
 * Sums up the views of the read model that comes first in the search path, and has them kept from then on.
 * Whoever fills one from a whole log does it at the end, because one sum over all costs less than each change
 * of it.
 */
export const keepViews = async (connection: Connection, tables: Tables): Promise<void> => {
  for (const view of tables.views) {
    const columns = [...view.keys, ...view.numbers, ...Object.keys(view.latest), 'shares'].join(', ');
    await connection.query(`insert into ${view.name} (${columns}) ${sumOf(view, view.shares)}`);
  }
  for (const statement of keptViewsOf(tables)) await connection.query(statement);
};

/** In the place of their tables: always what their shares come to, where nobody serves anything from it. */
export const readViewsAnew = async (connection: Connection, tables: Tables): Promise<void> => {
  for (const view of tables.views)
    await connection.query(
      `drop table ${view.name}; create view ${view.name} as ${sumOf(view, view.shares)}`,
    );
};

/**
 * Rows of the live read model may be others from now on though nothing has happened: whoever follows them is
 * told all anew.
 */
export const beginStreamsAnew = async (
  connection: Connection,
  { views }: Tables,
  position: Position,
): Promise<void> => {
  if (views.length === 0) return;
  await connection.query(`update ${LIVE_SCHEMA}.view_stream set generation = gen_random_uuid(), since = $1`, [
    position,
  ]);
};
