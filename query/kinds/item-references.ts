import { snake } from '#kernel/base/names.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import { operationOf } from '#kernel/conditions/rights.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import type { Joins } from '../lists/item-rows.ts';
import { type Needs, needsToRead } from '../rows/needs.ts';
import type { ItemSource } from '../rows/source.ts';
import type { Row } from '../rows/sources.ts';
import { type FindRow, joinTargets } from './rows.ts';
import { behind, ENDED_COLUMN, hidesEnded, type Joined, joinedAs, joinsTo } from './selection.ts';
import { type JoinedTarget, withheldColumn } from './targets.ts';

type Referring = Pick<ItemSource, 'members'>;

type Reference = JoinedTarget & {
  readonly column: string;
  readonly kind: Kind;
  readonly needs: Needs;
  /** The label of the target, among the columns of the row. */
  readonly label: { readonly column: string; readonly joined: string } | undefined;
};

/** The references of a row whose targets are joined to it: what they show, and what the right depends on. */
export const joinedReferences = (domain: Domain, { members }: Referring): readonly Reference[] =>
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
const joinedOf = (references: readonly Reference[]): readonly Joined[] =>
  references.flatMap(({ name, column, kind, needs, label, hidesEnded: hides }) => {
    const columns = [
      ...needs.fields.map((field) => field.column),
      ...(label === undefined ? [] : [label.column]),
      ...(hides ? [ENDED_COLUMN] : []),
    ];
    const lists = needs.lists.map(({ asked }) => asked);
    return [{ path: [name], column, kind, columns: [...new Set(columns)], lists }, ...behind(needs, [name])];
  });

/** The targets of references, joined to the row i. */
export const referencesOf = (domain: Domain, source: Referring): Joins => {
  const { columns, joins } = joinsTo('i', joinedOf(joinedReferences(domain, source)));
  return { columns: columns.map((each) => `, ${each}`).join(''), joins };
};

type Found = {
  readonly row: Row;
  readonly find: FindRow;
  /** Former targets are shown only to callers who may read them now too. */
  readonly isSeenNow: (kind: Kind, id: number) => Promise<boolean>;
};

/** Compiled once, because a list of the past asks for each of its rows. */
const foundBy = oncePer((domain: Domain) =>
  oncePer((items: ItemSource) => {
    const references = joinedReferences(domain, items);
    return { references, joined: joinedOf(references) };
  }),
);

/** The same for an item that was found by itself. */
export const withReferences = async (
  domain: Domain,
  items: ItemSource,
  { row, find, isSeenNow }: Found,
): Promise<Row> => {
  const { references, joined } = foundBy(domain)(items);
  const whole: Record<string, unknown> = { ...(await joinTargets(joined, { row, find })) };
  for (const reference of references) {
    const id = whole[joinedAs([reference.name], 'id')];
    whole[withheldColumn(reference)] = typeof id === 'number' && !(await isSeenNow(reference.kind, id));
  }
  return whole;
};
