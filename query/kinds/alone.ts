import { oncePer } from '#kernel/base/once-per.ts';
import { askedListsOf } from '#kernel/conditions/lists.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Member, Source } from '../rows/source.ts';
import { createFinder, runPrepared } from '../rows/statement.ts';
import type { ItemRow } from './rows.ts';
import { ownColumns, type Selection, selectionOf } from './selection.ts';

/** The rows of a kind by themselves, for readers that find references and long texts by themselves. */
type RowsAlone = {
  readonly selection: Selection;
  /** Includes rows that are only a name for others. */
  find(pool: Pool, ids: readonly number[]): Promise<ReadonlyMap<number, ItemRow>>;
};

export const rowsAlone = oncePer((domain: Domain) =>
  oncePer((source: Source): RowsAlone => {
    const selection = selectionAlone(domain, source);
    const find = createFinder<ItemRow>(
      (condition) => `select ${selection.columns} from ${source.table} t where ${condition}`,
    );
    return { selection, find };
  }),
);

/** Replaces texts that are too long in total. */
export const TOO_LONG = Symbol('too long');

type AskedTexts = {
  readonly column: string;
  readonly ids: readonly number[];
  /** The limit of all texts together. */
  readonly bytesMax: number;
};

export const findTexts = async (
  pool: Pool,
  { table }: Source,
  { column, ids, bytesMax }: AskedTexts,
): Promise<ReadonlyMap<number, string | null | typeof TOO_LONG>> => {
  const text = `select id, case when sum(octet_length(${column})) over () <= $2::bigint then ${column} end as text,
    ${column} is not null as "isThere" from ${table} where id = any($1::bigint[])`;
  const rows = await runPrepared<{
    readonly id: number;
    readonly text: string | null;
    readonly isThere: boolean;
  }>(pool, text, [ids, bytesMax]);
  return new Map(rows.map((row) => [row.id, row.isThere ? (row.text ?? TOO_LONG) : null]));
};

const LONG_CHARACTERS = 10_000;

export const isLong = ({ def }: Pick<Member, 'def'>): boolean =>
  def.kind === 'text' && ((def.recorded.meta()?.maxLength as number | undefined) ?? 0) > LONG_CHARACTERS;

/**
 * For readers that find references and long texts of a row by themselves: its own columns, and the items that any
 * right asks about. Rows of a parked owner are omitted.
 */
const selectionAlone = (domain: Domain, source: Source): Selection => {
  const { kind, members, owner } = source;
  const short = members.filter((member) => !isLong(member));
  const joined = owner?.target
    ? [{ path: [owner.name], column: owner.column, kind: owner.target, columns: [], lists: [] }]
    : [];
  return selectionOf(ownColumns(source, short, askedListsOf(domain, kind)), joined, () => true);
};
