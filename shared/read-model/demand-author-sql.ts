import { expressionType } from '#kernel/registry/hatches.ts';
import { column } from '#kernel/registry/names.ts';
import type { Domain, ExpressionInfo, Kind, SqlText } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import { StartRefused } from '#shared/process/start-refused.ts';

/**
 * Has PostgreSQL look at the SQL that authors have written, and refuses what it refuses: otherwise whoever asks for it would find out. Nothing
 * is read, and no table need be there.
 */
export const demandAuthorSql = async (pool: Pick<Pool, 'query'>, domain: Domain): Promise<void> => {
  for (const kind of Object.values(domain.kinds)) {
    for (const expression of kind.expressions)
      await explain(pool, `${kind.name}: the expression ${expression.name}`, inRow(kind, expression));
    for (const filter of kind.filters)
      await explain(
        pool,
        `${kind.name}: the filter ${filter.name}`,
        `select 1 from ${rowOf(kind)} where ${textOf(filter.text, `null::${columnType(filter)}`)}`,
      );
  }
};

const inRow = (kind: Kind, { text, def }: ExpressionInfo): string => `select ${textOf(text)}::${expressionType(def)} from ${rowOf(kind)}`;

const textOf = (text: SqlText, given = ''): string =>
  `(${text.map((part) => (typeof part === 'string' ? part : 'given' in part ? given : `t.${part.column}`)).join('')})`;

const columnType = ({ def }: Pick<ExpressionInfo, 'def'>): string => (def.kind === 'integer' ? 'bigint' : expressionType(def));

/** A row with the columns of its table. */
const rowOf = ({ fields }: Kind): string =>
  `(select ${Object.entries(fields)
    .map(([name, def]) => `null::${def.column} as ${column(name, def)}`)
    .join(', ')}) t`;

const explain = async (pool: Pick<Pool, 'query'>, place: string, statement: string): Promise<void> => {
  try {
    await pool.query(`explain ${statement}`);
  } catch (error) {
    // Class 42: what is wrong with the statement itself.
    if (!String((error as { code?: unknown }).code).startsWith('42')) throw error;
    throw new StartRefused(`${place} is nothing that PostgreSQL understands, “${(error as Error).message}”: mend its \`sql\`.`, {
      cause: error,
    });
  }
};
