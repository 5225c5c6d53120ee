import type { Operation } from '#kernel/base/operation.ts';
import { tableOf } from '#kernel/rows/table.ts';
import { type Caller, may, mayAlways } from '#shared/policy.ts';
import { resourceOf } from '../kinds/rows.ts';
import { demandSearchable, isReadAsParent, readableParts, rowsWith } from '../rows/rights.ts';
import type { Filter, Source } from '../rows/source.ts';
import { isPresent, type Row } from '../rows/sources.ts';
import { isAuditor } from './auditor.ts';
import type { Candidate, Part } from './candidates.ts';
import { isAmong, type Moved } from './moved.ts';
import type { Past } from './past.ts';
import { withheldNow } from './withheld.ts';

/** The contents of lists in the past: where to search, and which matches a caller may see. */

type Listed<Found> = {
  readonly parts: readonly Part[];
  look(candidate: Candidate): Promise<Found | undefined>;
};

type Wanted = {
  readonly source: Source;
  /** The reference to the parent of the list, and its id. */
  readonly under: { readonly column: string; readonly id: number } | undefined;
  /** By filter name. The text search has no past. */
  readonly filter: Readonly<Record<string, unknown>>;
};

type PastRow = Row & { readonly id: number; readonly created_at: Date };

export const pastListing = async (
  past: Past,
  caller: Caller,
  { source, under, filter }: Wanted,
): Promise<Listed<PastRow>> => {
  const { kind, right, owner, filters } = source;
  const isAuditing = isAuditor(caller, right);
  const asked = filters.filter(({ name }) => (filter[name] ?? null) !== null);
  for (const { name, guard } of asked) demandSearchable(caller, guard, name);
  const guards = [...new Set(asked.flatMap(({ guard }) => guard ?? []))];
  const equal = equalIn(asked, filter, under);
  const moved = under === undefined ? undefined : await past.moved(kind.name);
  const fits = (row: Row): boolean =>
    (under === undefined || row[under.column] === under.id) &&
    asked.every(({ name, column, by }) =>
      by === 'element'
        ? (row[column] as readonly unknown[]).includes(filter[name])
        : row[column] === filter[name],
    );
  // A value that the caller could not read then, or cannot read now, counts as absent.
  const mayLookBy = async (rights: readonly Operation[], row: PastRow): Promise<boolean> => {
    if (rights.every((each) => mayAlways(caller, each))) return true;
    const resource = await resourceOf(
      source,
      row,
      async (target, other) => (await past.find(target.name, other)).row,
    );
    const withheld = await withheldNow(past, source, { caller, id: row.id });
    return (
      resource !== undefined && rights.every((each) => may(caller, each, resource) && !withheld.has(each))
    );
  };
  return {
    parts:
      equal === undefined
        ? []
        : [
            ...partsNow(caller, source, equal),
            ...(isAuditing ? partsGone(source, equal) : []),
            ...(moved && under ? partsElsewhere({ caller, source, isAuditing }, moved, under) : []),
          ],
    async look({ id }) {
      const row = (await past.find(kind.name, id)).row as PastRow | undefined;
      // An aggregate that was parked then was in no list.
      if (!row || !isPresent(source, row) || !fits(row)) return undefined;
      if (!isAuditing && !isReadAsParent(source)) {
        const resource = await resourceOf(
          source,
          row,
          async (target, other) => (await past.find(target.name, other)).row,
        );
        if (resource === undefined || !may(caller, right, resource)) return undefined;
      }
      if (!(await mayLookBy(guards, row))) return undefined;
      return owner?.target === undefined || (await isThere(past, row[owner.column])) ? row : undefined;
    },
  };
};

/** While a user is parked, none of their aggregates are listed. */
const isThere = async (past: Past, owner: unknown): Promise<boolean> =>
  typeof owner === 'number' && (await past.find('user', owner)).row !== undefined;

type Equal = Readonly<Record<string, number>>;

/** Undefined if filters ask for two ids of one reference: nothing matches both. */
const equalIn = (
  asked: readonly Filter[],
  filter: Wanted['filter'],
  under: Wanted['under'],
): Equal | undefined => {
  const equal: Record<string, number> = under ? { [under.column]: under.id } : {};
  for (const { name, column, by } of asked) {
    if (by !== 'id') continue;
    const id = Number(filter[name]);
    if ((equal[column] ?? id) !== id) return undefined;
    equal[column] = id;
  }
  return equal;
};

/**
 * Keeps the owner, which never changes, and the parent: aggregates that have moved since are searched beside.
 * Other references may have had another target then.
 */
const lasting = ({ parent, owner }: Source, equal: Equal): Equal =>
  Object.fromEntries(
    Object.entries(equal).filter(([column]) => column === parent?.column || column === owner?.column),
  );

const partsNow = (caller: Caller, source: Source, equal: Equal): readonly Part[] =>
  readableParts(caller, source, { equal: lasting(source, equal) }).map((part) => (parameters) => ({
    table: source.kind.table,
    conditions: part(parameters),
  }));

/**
 * Where to search for deleted aggregates: among their rows if these stay, else in the table of removed ones.
 */
const partsGone = (source: Source, equal: Equal): readonly Part[] => {
  const { kind, staysWhenEnded } = source;
  if (staysWhenEnded)
    return [() => ({ table: kind.table, isRemoved: true, conditions: ['t.deleted_at is not null'] })];
  const { parent } = tableOf(kind);
  const parentId = parent === null ? undefined : equal[parent];
  const removed: Part = (parameters) => ({
    table: 'removed',
    isRemoved: true,
    conditions: [
      `t.kind = '${kind.table}'`,
      ...(parentId === undefined ? [] : [`t.parent_id = ${parameters.add(parentId)}::bigint`]),
    ],
  });
  return [removed];
};

type Searching = { readonly caller: Caller; readonly source: Source; readonly isAuditing: boolean };

/** Where to search for aggregates that moved below another parent since. */
const partsElsewhere = (
  { caller, source, isAuditing }: Searching,
  moved: Moved,
  { column, id }: NonNullable<Wanted['under']>,
): readonly Part[] => {
  const { kind, right, parent, staysWhenEnded } = source;
  if (parent?.column !== column) return [];
  const now: Part = (parameters) => ({
    table: kind.table,
    conditions: [
      `t.${column} <> ${parameters.add(id)}::bigint`,
      isAmong(moved, kind, parameters),
      ...(isAuditing ? [] : rowsWith(caller, source, right, parameters)),
    ],
  });
  const gone: Part = (parameters) => ({
    table: 'removed',
    isRemoved: true,
    conditions: [
      `t.kind = '${kind.table}'`,
      `t.parent_id <> ${parameters.add(id)}::bigint`,
      isAmong(moved, kind, parameters),
    ],
  });
  return isAuditing && !staysWhenEnded ? [now, gone] : [now];
};
