import type { Connection } from '#shared/database/pool.ts';

/** A name that no declared column can have. */
export const ROW_KEY = '"rowKey"';

/** Two selects that should return equal rows, each with `ROW_KEY` and the compared columns. */
export type Comparison = {
  readonly table: string;
  readonly columns: readonly string[];
  /** The rows that follow from the log. */
  readonly recorded: string;
  /** The rows to compare with them. */
  readonly found: string;
};

type Values = Readonly<Record<string, string | null>>;

/** Null if there is no such row. */
export type Difference = {
  readonly key: string;
  readonly recorded: Values | null;
  readonly found: Values | null;
};

type Differences = {
  readonly listed: readonly Difference[];
  readonly missing: number;
  readonly extra: number;
  readonly different: number;
};

const LISTED_MAX = 20;
const MEMORY = '64MB';

/** Compares row by row in the database: counts all differences, and returns the first of each kind. */
export const compare = async (connection: Connection, comparison: Comparison): Promise<Differences> => {
  await connection.query(`set local work_mem = '${MEMORY}'`);
  const { rows } = await connection.query<
    Difference & { kind: 'missing' | 'extra' | 'different'; total: number }
  >(statementOf(comparison));
  const totalOf = (kind: string) => rows.find((row) => row.kind === kind)?.total ?? 0;
  return {
    listed: rows.map(({ key, recorded, found }) => ({ key, recorded, found })),
    missing: totalOf('missing'),
    extra: totalOf('extra'),
    different: totalOf('different'),
  };
};

const statementOf = ({ columns, recorded, found }: Comparison): string => {
  const tuple = (side: string) => `row(${columns.map((column) => `${side}.${column}`).join(', ')})`;
  const texts = (side: string) =>
    `case when ${side}."isThere" then json_build_object(${columns.map((column) => `'${column}', ${side}.${column}::text`).join(', ')}) end`;
  return `
    with differing as (
      select ${ROW_KEY}::text as key, ${ROW_KEY} as rank, ${texts('r')} as recorded, ${texts('f')} as found,
        case when f."isThere" is null then 'missing' when r."isThere" is null then 'extra' else 'different' end as kind
      from (select *, true as "isThere" from (${recorded}) r1) r
      full join (select *, true as "isThere" from (${found}) f1) f using (${ROW_KEY})
      where r."isThere" is null or f."isThere" is null or ${tuple('r')} is distinct from ${tuple('f')}
    )
    select key, recorded, found, kind, total
    from (select *, row_number() over (partition by kind order by rank) as number, count(*) over (partition by kind) as total from differing) counted
    where number <= ${LISTED_MAX} order by rank`;
};
