import { column } from '#kernel/base/names.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { expressionType } from '#kernel/registry/hatches.ts';
import type { Domain, ExpressionInfo, Kind, RouteInfo, SqlText } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import { tablesOf } from '../read-model/tables.ts';
import { isOfThisRelease } from './definition.ts';

/**
 * Lets PostgreSQL check the SQL of custom code, and refuses the start on an error, which the first request
 * would meet otherwise. Reads no rows; expressions and filters need no tables.
 */
export const demandAuthorSql = async (pool: Pool, domain: Domain): Promise<void> => {
  for (const kind of Object.values(domain.kinds)) {
    for (const expression of kind.expressions)
      await explain(pool, `${kind.name}: the expression ${expression.name}`, inRow(kind, expression));
    for (const filter of kind.filters)
      await explain(
        pool,
        `${kind.name}: the filter ${filter.name}`,
        `select 1 from ${rowOf(kind, filter)} where ${textOf(filter.text, `null::${columnType(filter)}`)}`,
      );
  }
  // On the tables of another release a failure would prove nothing.
  if (domain.routes.length === 0 || !(await isOfThisRelease(pool, tablesOf(domain), LIVE_SCHEMA))) return;
  for (const route of domain.routes) await demandRoute(pool, route);
};

const demandRoute = async (
  pool: Pick<Pool, 'query'>,
  { name, text, given, gives }: RouteInfo,
): Promise<void> => {
  const place = `the route ${name}`;
  const values = given.map(() => null);
  const { fields } = await orRefuse(place, () =>
    pool.query(`select * from (${text}) checked limit 0`, values),
  );
  const missing = Object.keys(gives).find((each) => fields.every((field) => field.name !== each));
  if (missing !== undefined)
    throw new StartRefused(
      `${place} gives ${missing}, which its statement does not select: add \`as "${missing}"\` to its \`sql\`.`,
    );
};

const inRow = (kind: Kind, { text, def, uses }: ExpressionInfo): string =>
  `select ${textOf(text)}::${expressionType(def)} from ${rowOf(kind, { uses })}`;

const textOf = (text: SqlText, given = ''): string =>
  `(${text.map((part) => (typeof part === 'string' ? part : 'given' in part ? given : `t.${part.column}`)).join('')})`;

const columnType = ({ def }: Pick<ExpressionInfo, 'def'>): string =>
  def.kind === 'integer' ? 'bigint' : expressionType(def);

/** A row with only the columns it declares: any other column is unchecked, and may need another right. */
const rowOf = ({ fields }: Kind, { uses }: Pick<ExpressionInfo, 'uses'>): string =>
  `(select ${Object.entries(fields)
    .filter(([name]) => uses.includes(name))
    .map(([name, def]) => `null::${def.column} as ${column(name, def)}`)
    .join(', ')}) t`;

const explain = (pool: Pick<Pool, 'query'>, place: string, statement: string) =>
  orRefuse(place, () => pool.query(`explain ${statement}`));

/** SQLSTATE classes of errors in the statement itself or in a value of it, and of unsupported features. */
const OF_THE_STATEMENT: ReadonlySet<string> = new Set(['42', '22', '0A']);

const orRefuse = async <Result>(place: string, ask: () => Promise<Result>): Promise<Result> => {
  try {
    return await ask();
  } catch (error) {
    if (!OF_THE_STATEMENT.has(String((error as { code?: unknown }).code).slice(0, 2))) throw error;
    throw new StartRefused(`${place} is not valid SQL, “${(error as Error).message}”: correct its \`sql\`.`, {
      cause: error,
    });
  }
};
