import { isDeepStrictEqual } from 'node:util';
import type { StreamName } from '#kernel/base/brands.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { DerivedFinding } from '#shared/rest/verification-report.ts';
import type { FollowingDependencies } from './expected-references.ts';

const AT_ONCE = 16;

type Findings = readonly DerivedFinding[];

/**
 * Compares a few at once, and those that differ a second time: a node of a cluster may lag behind the one from
 * which the process manager has read.
 */
export const compareTwice = async <Item>(
  items: readonly Item[],
  compare: (some: readonly Item[], isFirst: boolean) => Promise<readonly Findings[]>,
): Promise<Findings> => {
  const found: DerivedFinding[] = [];
  for (let from = 0; from < items.length; from += AT_ONCE) {
    const some = items.slice(from, from + AT_ONCE);
    const first = await compare(some, true);
    const differing = [...some.keys()].filter((index) => first[index]?.length !== 0);
    if (differing.length === 0) continue;
    const again = await compare(
      differing.map((index) => some[index] as Item),
      false,
    );
    found.push(
      ...differing.flatMap((index, place) => {
        const before = first[index] ?? [];
        return isDeepStrictEqual(before, again[place]) ? before : [];
      }),
    );
  }
  return found;
};

type Noting = {
  readonly table: string;
  /** SQL that is true of a `position` after which its end must be in the table; its values begin at `$3`. */
  readonly isDue: string;
  readonly values: readonly unknown[];
};

/** The ends of aggregates that the process manager has followed, and whose aggregate is not in the table. */
export const missingEnds = async (
  { pool }: Pick<FollowingDependencies, 'pool'>,
  ends: readonly RecordedEvent[],
  { table, isDue, values }: Noting,
): Promise<Findings> => {
  if (ends.length === 0) return [];
  const { rows } = await pool.query<{ stream: StreamName }>(
    `select e.stream from unnest($1::text[], $2::bigint[]) as e (stream, position)
     where ${isDue} and not exists (select from ${table} d where d.parent = e.stream)`,
    [ends.map(({ stream }) => stream), ends.map(({ position }) => position), ...values],
  );
  const missing = new Set(rows.map(({ stream }) => stream));
  return ends.flatMap(
    ({ stream, version, position }): Findings =>
      missing.has(stream)
        ? [{ kind: 'derived_missing', table, key: stream, columns: [], stream, version, position }]
        : [],
  );
};
