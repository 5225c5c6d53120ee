import type { AggregateState } from '#kernel/decide/state.ts';
import type { Kind, ListInfo, Row } from '#kernel/registry/registry.ts';
import { isHidden, partsOf } from './declared.ts';
import { itemsIn } from './forms.ts';

type Changed = { readonly before: AggregateState; readonly after: AggregateState };

/**
 * If only parts with narrower rights were changed: those rights, one of which a reader needs to see the
 * change. Otherwise undefined.
 */
export const partsChangedBy = (kind: Kind, { before, after }: Changed): readonly string[] | undefined => {
  if (before.status !== 'present' || after.status !== 'present') return undefined;
  const derived = new Set(kind.derived.map(({ name }) => name));
  const fields = Object.keys(kind.fields).filter(
    (name) => !derived.has(name) && differ(before.fields[name], after.fields[name]),
  );
  const parts = [
    ...fields.map((name) => partsOf(kind).find(({ reads }) => reads.includes(name))?.name),
    ...Object.values(kind.lists).flatMap((list) =>
      itemsChanged(list, [before.fields, after.fields]).map((item) => partOf(kind, list, item)),
    ),
  ];
  const known = parts.filter((part) => part !== undefined);
  return known.length === 0 || known.length < parts.length ? undefined : [...new Set(known)];
};

const partOf = (kind: Kind, { name }: ListInfo, item: Row): string | undefined =>
  partsOf(kind).find(
    ({ reads, items }) => reads.includes(name) || (items[name] !== undefined && isHidden(items[name], item)),
  )?.name;

/** The added, changed and removed items. */
const itemsChanged = (list: ListInfo, [before, after]: readonly [Row, Row]): readonly Row[] => {
  const [was, is] = [before, after].map(
    (fields) => new Map(itemsIn(fields, list).map((item) => [item.id, item])),
  );
  const ids = new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])]);
  return [...ids].flatMap((id) =>
    differ(was?.get(id), is?.get(id)) ? [(is?.get(id) ?? was?.get(id)) as Row] : [],
  );
};

const differ = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one ?? null) !== JSON.stringify(other ?? null);
