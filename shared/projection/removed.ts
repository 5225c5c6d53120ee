import type { Row, Table } from '#kernel/rows/change.ts';
import type { Sender } from '#shared/database/prepared.ts';

type Removable = Pick<Table<string>, 'name'> & { readonly parent: string | null };

/** A statement that deletes rows of a table, named t, and records them as removed. */
export const removalOf = ({ name, parent }: Removable, deletion: string): string =>
  parent === null
    ? deletion
    : `with gone as (${deletion} returning t.id, t.${parent}, t.created_at)
       insert into removed (kind, id, parent_id, created_at) select '${name}', * from gone ${AGAIN}`;

/**
 * A statement that inserts rows of a table, named t, and removes them from the record: the log may create a
 * deleted id again. PostgreSQL looks up all ids of an array in one pass over the index, but joined rows one
 * by one.
 */
export const returnOf = ({ name, parent }: Removable, insertion: string): string =>
  parent === null
    ? insertion
    : `with made as (${insertion} returning t.id)
       delete from removed r where r.kind = '${name}' and r.id = any (array(select id from made))`;

/** After a second deletion, the last one counts. */
const AGAIN =
  'on conflict (kind, id) do update set parent_id = excluded.parent_id, created_at = excluded.created_at';

/** Records rows that were never written, because one batch created and deleted them. */
export const noteRemoved = async <Column extends string>(
  connection: Sender,
  { name, parent }: Table<Column>,
  rows: readonly Row<Column>[],
): Promise<void> => {
  if (rows.length === 0 || parent === null) return;
  const noted = rows.map((row) => ({
    id: row.id,
    parent_id: row[parent],
    created_at: (row as Readonly<Record<string, unknown>>).created_at,
  }));
  await connection.query(
    `insert into removed (kind, id, parent_id, created_at)
     select $1, id, parent_id, created_at from json_to_recordset($2) as p (id bigint, parent_id bigint, created_at timestamptz) ${AGAIN}`,
    [name, JSON.stringify(noted)],
  );
};
