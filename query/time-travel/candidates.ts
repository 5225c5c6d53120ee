import type { Position } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { orderSql, type Stretch, withinSql } from '../lists/walk.ts';
import { Parameters, runPrepared } from '../rows/statement.ts';
import type { Past } from './past.ts';

/**
 * An aggregate that a list may have contained, by its creation time. Its stream has its state at the time
 * asked for.
 */
export type Candidate = { readonly id: number; readonly created_at: Date; readonly is_removed: boolean };

/** A subset of the candidates that one index holds: a table and the conditions on its rows, aliased t. */
export type Part = (parameters: Parameters) => {
  readonly table: string;
  readonly isRemoved?: boolean;
  readonly conditions: readonly string[];
};

const READ_AT_ONCE = 100;
const FOLDED_AT_ONCE = 8;
/** The maximum of candidates examined for one page, however few of them match. */
const LOOKED_AT_MAX = 400;

type Search<Found> = {
  readonly pool: Pool;
  readonly past: Past;
  readonly parts: readonly Part[];
  readonly stretch: Stretch;
  readonly rowsMax: number;
  /** The state of a candidate at that time; undefined if it was not in the list. */
  look(candidate: Candidate): Promise<Found | undefined>;
};

/** Finds the first matches, and returns the last candidate examined if there may be more. */
export const findPast = async <Found>(search: Search<Found>) => {
  const { pool, past, rowsMax, look } = search;
  const latest = await latestAt(pool, past.position);
  const found: Found[] = [];
  let lookedAt = 0;
  let examined: Candidate | undefined;
  let { stretch } = search;
  for (;;) {
    const candidates = await readCandidates(pool, { parts: search.parts, stretch, latest });
    for (let from = 0; from < candidates.length; from += FOLDED_AT_ONCE) {
      if (examined && (lookedAt >= LOOKED_AT_MAX || past.isExhausted()))
        return { found, stoppedAt: examined };
      const some = candidates.slice(from, from + FOLDED_AT_ONCE);
      for (const one of await Promise.all(some.map(look)))
        if (one !== undefined && found.length < rowsMax) found.push(one);
      if (found.length === rowsMax) return { found, stoppedAt: undefined };
      lookedAt += some.length;
      examined = some.at(-1);
    }
    const last = candidates.at(-1);
    if (last === undefined || candidates.length < READ_AT_ONCE) return { found, stoppedAt: undefined };
    stretch = { ...stretch, beyond: { at: last.created_at.toISOString(), id: last.id } };
  }
};

type Wanted = {
  readonly parts: readonly Part[];
  readonly stretch: Stretch;
  readonly latest: Date | undefined;
};

const readCandidates = async (
  pool: Pool,
  { parts, stretch, latest }: Wanted,
): Promise<readonly Candidate[]> => {
  if (parts.length === 0) return [];
  const parameters = new Parameters();
  const common = [
    ...withinSql('created_at', stretch, parameters),
    ...(latest ? [`t.created_at <= ${parameters.add(latest)}::timestamptz`] : []),
  ];
  const order = `${orderSql('created_at', stretch)} limit ${READ_AT_ONCE}`;
  const selects = parts.map((part) => {
    const { table, isRemoved = false, conditions } = part(parameters);
    const where = [...conditions, ...common, 'true'].join(' and ');
    return `(select t.id, t.created_at, ${isRemoved} as is_removed from read_model.${table} t where ${where} ${order})`;
  });
  const rows = await runPrepared<Candidate>(
    pool,
    `select * from (${selects.join(' union all ')}) as page ${order}`,
    parameters.values,
  );
  return rows;
};

/**
 * An upper bound of the creation times up to a position; undefined if the index does not reach that far yet.
 */
const latestAt = async (pool: Pool, position: Position): Promise<Date | undefined> => {
  const [moment] = await runPrepared<{ latest_at: Date | null }>(
    pool,
    'select latest_at from event_index.moment where position >= $1::bigint order by position limit 1',
    [position],
  );
  return moment?.latest_at ?? undefined;
};
