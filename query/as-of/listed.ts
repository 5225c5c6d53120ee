import { tableOf } from '#kernel/rows/table.ts';
import { type Caller, may, mayAlways, type Operation } from '#shared/policy.ts';
import { resourceOf } from '../kinds/rows.ts';
import { demandSeen, isReadAsParent, readableParts } from '../rights.ts';
import { type Filter, fitsCustom, isPresent, type Row, type Source } from '../sources.ts';
import type { Candidate, Part } from './candidates.ts';
import { isAuditor } from './items.ts';
import type { Past } from './past.ts';
import { withheldNow } from './withheld.ts';

/** What lists held then: where to look for it, and which of what was there a caller may see. */

type Listed<Found> = {
  readonly parts: readonly Part[];
  look(candidate: Candidate): Promise<Found | undefined>;
};

type Wanted = {
  readonly source: Source;
  /** The column of what they are listed under, and its id. */
  readonly under: { readonly column: string; readonly id: number } | undefined;
  /** By the names of filters; words are looked for in what is there now. */
  readonly filter: Readonly<Record<string, unknown>>;
};

type Then = Row & { readonly id: number; readonly created_at: Date };

export const listedThen = (past: Past, caller: Caller, { source, under, filter }: Wanted): Listed<Then> => {
  const { kind, right, owner, filters } = source;
  const isAuditing = isAuditor(caller, right);
  const asked = filters.filter(({ name }) => (filter[name] ?? null) !== null);
  for (const { name, guard } of asked) demandSeen(caller, guard, name);
  const guards = [...new Set(asked.flatMap(({ guard }) => guard ?? []))];
  const equal = equalIn(asked, filter, under);
  const fits = (row: Row): boolean =>
    asked.every(({ name, column, by, custom }) => {
      if (custom) return fitsCustom(source.members, custom, row, filter[name]);
      return by === 'element'
        ? (row[column] as readonly unknown[]).includes(filter[name])
        : row[column] === filter[name];
    });
  // What the caller could not read then, or cannot now, is as if there had been no value.
  const mayLookBy = async (rights: readonly Operation[], row: Then): Promise<boolean> => {
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
        : [...partsNow(caller, source, equal), ...(isAuditing ? partsGone(source, equal) : [])],
    async look({ id }) {
      const row = (await past.find(kind.name, id)).row as Then | undefined;
      // What stood still then was in no list.
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

/** Without its owner, who stood still then, nothing of theirs was. */
const isThere = async (past: Past, owner: unknown): Promise<boolean> =>
  typeof owner === 'number' && (await past.find('user', owner)).row !== undefined;

type Equal = Readonly<Record<string, number>>;

/** Nothing can be of two owners. */
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

/** Whose it is and what it stands under never changes; what else it refers to may have been another then. */
const lasting = ({ parent, owner }: Source, equal: Equal): Equal =>
  Object.fromEntries(
    Object.entries(equal).filter(([column]) => column === parent?.column || column === owner?.column),
  );

const partsNow = (caller: Caller, source: Source, equal: Equal): readonly Part[] =>
  readableParts(caller, source, { equal: lasting(source, equal) }).map((part) => (parameters) => ({
    table: source.kind.table,
    conditions: part(parameters),
  }));

/** Where a row goes that is not there any more, or stays without being listed. */
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
