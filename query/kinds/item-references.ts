import { snake, sqlName } from '#kernel/base/names.ts';
import { askedItemsSql } from '#kernel/conditions/lists.ts';
import { operationOf } from '#kernel/conditions/rights.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import type { Joins } from '../lists/item-rows.ts';
import { type Needs, needsToRead } from '../rows/needs.ts';
import type { ItemSource } from '../rows/source.ts';
import type { Row } from '../rows/sources.ts';
import { ENDED_COLUMN, hidesEnded, joinedAs } from './selection.ts';
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

type Joining = { readonly kind: Kind; readonly needs: Needs; readonly alias: string; readonly on: string };

/** The columns of a target, and of the targets behind it on which the right depends. */
const joinsOf = ({ kind, needs, alias, on }: Joining): Joins => {
  const own = [
    ...needs.fields.map(({ column, joined }) => `, ${alias}.${column} as "${sqlName(joined)}"`),
    ...needs.lists.map(
      ({ joined, asked }) =>
        `, ${askedItemsSql(asked, kind, { row: alias, schema: LIVE_SCHEMA })} as "${sqlName(joined)}"`,
    ),
  ];
  const further = needs.behind.map((each, index) =>
    joinsOf({ ...each, alias: `${alias}_${index}`, on: `${alias}.${each.column}` }),
  );
  return {
    columns: [...own, ...further.map(({ columns }) => columns)].join(''),
    joins: [
      ` left join ${LIVE_SCHEMA}.${kind.table} ${alias} on ${alias}.id = ${on}`,
      ...further.map(({ joins }) => joins),
    ].join(''),
  };
};

export const referencesOf = (domain: Domain, source: Pick<ItemSource, 'members'>): Joins => {
  const all = joinedReferences(domain, source).map(({ name, kind, needs, column, label, ...more }, index) => {
    const alias = `r${index}`;
    const { columns, joins } = joinsOf({ kind, needs, alias, on: `i.${column}` });
    const ended = more.hidesEnded ? `, ${alias}.${ENDED_COLUMN} as "${joinedAs([name], ENDED_COLUMN)}"` : '';
    const shown = `${label === undefined ? '' : `, ${alias}.${label.column} as "${label.joined}"`}${ended}`;
    return { columns: `${columns}${shown}`, joins };
  });
  return {
    columns: all.map(({ columns }) => columns).join(''),
    joins: all.map(({ joins }) => joins).join(''),
  };
};

type Found = {
  readonly row: Row;
  readonly find: (kind: Kind, id: number) => Promise<Row | undefined>;
  /** Former targets are shown only to callers who may read them now too. */
  readonly isSeenNow: (kind: Kind, id: number) => Promise<boolean>;
};

/** The same for an item that was found by itself. */
export const withReferences = async (
  domain: Domain,
  items: ItemSource,
  { row, find, isSeenNow }: Found,
): Promise<Row> => {
  const whole: Record<string, unknown> = { ...row };
  const join = async (kind: Kind, needs: Needs, id: unknown): Promise<Row | undefined> => {
    const other = typeof id === 'number' ? await find(kind, id) : undefined;
    for (const { column, joined } of [...needs.fields, ...needs.lists])
      whole[sqlName(joined)] = other?.[column] ?? null;
    for (const each of needs.behind) await join(each.kind, each.needs, other?.[each.column]);
    return other;
  };
  for (const reference of joinedReferences(domain, items)) {
    const { kind, needs, column, label } = reference;
    const other = await join(kind, needs, row[column]);
    if (label !== undefined) whole[label.joined] = other?.[label.column] ?? null;
    if (reference.hidesEnded) whole[joinedAs([reference.name], ENDED_COLUMN)] = other?.[ENDED_COLUMN] ?? null;
    whole[withheldColumn(reference)] = other !== undefined && !(await isSeenNow(kind, row[column] as number));
  }
  return whole;
};
