import type { CommandInfo, Kind, ListInfo, Row } from '../registry/registry.ts';
import { always, type Expression, matching } from './expression.ts';

/** Items of a list that fewer may read than the aggregate. */
export type ItemPart = {
  readonly list: ListInfo;
  /**
   * Which of them, by their own fields: `always` if all. What cannot be told of an item, because it is not
   * known, is true of it.
   */
  readonly of: Expression;
};

/** Parts of an aggregate that fewer may read than the rest, and the name of the right to them. */
export type PartRight = {
  readonly name: string;
  /** Fields, numbers that follow from lists, and when it was created or changed. */
  readonly fields: readonly string[];
  readonly items: readonly ItemPart[];
};

const made = new WeakMap<Kind, readonly PartRight[]>();

/** Made once for a kind. */
export const partRightsOf = (kind: Kind): readonly PartRight[] => {
  const rights = made.get(kind) ?? makeRights(kind);
  made.set(kind, rights);
  return rights;
};

const makeRights = (kind: Kind): readonly PartRight[] =>
  Object.entries(kind.fieldRights).flatMap(([name, { reads = [], items = {} }]): readonly PartRight[] => {
    if (!isOfParts(kind, name)) return [];
    const names = reads as readonly string[];
    const whole = names.flatMap((field) => kind.lists[field] ?? []).map((list) => ({ list, of: always }));
    const some = Object.entries(items as Record<string, Row>).flatMap(([list, values]) => {
      const found = kind.lists[list];
      return found === undefined ? [] : [{ list: found, of: matching(values) }];
    });
    return [
      { name, fields: names.filter((field) => kind.lists[field] === undefined), items: [...whole, ...some] },
    ];
  });

/** Whether a right of its own is one to read some of an aggregate. */
export const isOfParts = ({ fieldRights }: Kind, name: string): boolean =>
  fieldRights[name]?.reads !== undefined || fieldRights[name]?.items !== undefined;

/** The part that the items of a list are in, all or some of them; a list has one at most. */
export const partOfItems = (kind: Kind, list: ListInfo): (ItemPart & { readonly name: string }) | undefined =>
  partRightsOf(kind)
    .flatMap(({ name, items }) => items.map((each) => ({ ...each, name })))
    .find((each) => each.list === list);

/** By what name a right of its own guards a field. */
export const guardOfField = (kind: Kind, field: string): string | undefined =>
  partRightsOf(kind).find(({ fields }) => fields.includes(field))?.name;

/**
 * The rights to the parts that a command cannot do without writing: of its form all, or of a list each item.
 * Nobody writes what they may not read.
 */
export const partsWrittenBy = (kind: Kind, { kind: what, list, form }: CommandInfo): readonly string[] => {
  if (what === 'create') return [];
  if (list !== undefined) {
    const part = partOfItems(kind, list);
    return part?.of === always ? [part.name] : [];
  }
  const guards = form.map((field) => guardOfField(kind, field));
  return guards.includes(undefined) ? [] : [...new Set(guards.filter((each) => each !== undefined))];
};
