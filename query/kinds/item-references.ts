import { snake } from '#kernel/base/names.ts';
import { operationOf } from '#kernel/conditions/rights.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import type { Joins } from '../lists/item-rows.ts';
import { type Needs, needsToRead } from '../rows/needs.ts';
import type { ItemSource } from '../rows/source.ts';
import type { Row } from '../rows/sources.ts';
import { type FindRow, joinTargets } from './rows.ts';
import { behind, ENDED_COLUMN, hidesEnded, type Joined, joinedAs, joinsTo } from './selection.ts';
import { type JoinedTarget, withheldColumn } from './targets.ts';

type Reference = JoinedTarget & {
  readonly column: string;
  readonly kind: Kind;
  readonly needs: Needs;
  /** The label of the target, among the columns of the row. */
  readonly label: { readonly column: string; readonly joined: string } | undefined;
};

/** The references of a row whose targets are joined to it: what they show, and what the right depends on. */
export const joinedReferences = (
  domain: Domain,
  { members }: Pick<ItemSource, 'members'>,
): readonly Reference[] =>
  members.flatMap((member) => {
    const { name, column, target } = member;
    if (!target) return [];
    const label = target.label === undefined ? undefined : snake(target.label);
    return [
      {
        ...{ name, column, kind: target },
        right: operationOf(target, 'read'),
        needs: needsToRead(domain, target, name),
        hidesEnded: hidesEnded(member),
        label: label === undefined ? undefined : { column: label, joined: joinedAs([name], label) },
      },
    ];
  });

/** The columns of the targets, and of those behind them on which the right depends. */
const joinedOf = (domain: Domain, source: Pick<ItemSource, 'members'>): readonly Joined[] =>
  joinedReferences(domain, source).flatMap(({ name, column, kind, needs, label, hidesEnded: hides }) => {
    const columns = [
      ...needs.fields.map((field) => field.column),
      ...(label === undefined ? [] : [label.column]),
      ...(hides ? [ENDED_COLUMN] : []),
    ];
    const lists = needs.lists.map(({ asked }) => asked);
    return [{ path: [name], column, kind, columns: [...new Set(columns)], lists }, ...behind(needs, [name])];
  });

/** The targets of references, joined to the row i. */
export const referencesOf = (domain: Domain, source: Pick<ItemSource, 'members'>): Joins => {
  const { columns, joins } = joinsTo('i', joinedOf(domain, source));
  return { columns: columns.map((each) => `, ${each}`).join(''), joins };
};

type Found = {
  readonly row: Row;
  readonly find: FindRow;
  /** Former targets are shown only to callers who may read them now too. */
  readonly isSeenNow: (kind: Kind, id: number) => Promise<boolean>;
};

/** The same for an item that was found by itself. */
export const withReferences = async (
  domain: Domain,
  items: ItemSource,
  { row, find, isSeenNow }: Found,
): Promise<Row> => {
  const whole: Record<string, unknown> = { ...(await joinTargets(joinedOf(domain, items), { row, find })) };
  for (const reference of joinedReferences(domain, items)) {
    const id = whole[joinedAs([reference.name], 'id')];
    whole[withheldColumn(reference)] = typeof id === 'number' && !(await isSeenNow(reference.kind, id));
  }
  return whole;
};
