import { createHash } from 'node:crypto';
import type { Position } from '#kernel/base/brands.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import { foldDefinitionOf } from '#kernel/decide/fold-definition.ts';
import { type Change, combine } from '#kernel/rows/change.ts';
import { meaningOf } from '#kernel/rows/meaning.ts';
import type { DecodedEvent } from '#shared/events/codec.ts';
import type { Fold } from '#shared/snapshots/snapshots.ts';
import type { ProjectedItems, ProjectedTable } from './tables.ts';

/** The result of a stream’s events in the read model: its row, and those of its items. */
export type RowFold = {
  readonly change: Change<string> | undefined;
  readonly changedAt: string | undefined;
  /** The position of a user’s deletion in their stream. */
  readonly departedAt: Position | undefined;
  /** By their keys; applying an event changes it in place. */
  readonly items: ReadonlyMap<ProjectedItems, Map<unknown, Change>>;
};

export const noRow = ({ items }: Pick<ProjectedTable, 'items'>): RowFold => ({
  change: undefined,
  changedAt: undefined,
  departedAt: undefined,
  items: new Map(items.map((each) => [each, new Map()])),
});

export const rowAfter = (table: ProjectedTable, before: RowFold, event: DecodedEvent): RowFold => {
  takeItem(before.items, event);
  return {
    change: after(before.change, table.project(event)),
    changedAt: event.metadata.at,
    departedAt: before.departedAt ?? (event.type === 'user.deleted' ? event.position : undefined),
    items: before.items,
  };
};

/** An absent row cannot change. */
export const after = (
  before: Change<string> | undefined,
  change: Change<string>,
): Change<string> | undefined => {
  if (before) return combine(before, change);
  return change.kind === 'patch' ? undefined : change;
};

const takeItem = (items: RowFold['items'], event: DecodedEvent): void => {
  for (const [table, ofOne] of items) {
    const change = table.changes(event);
    if (change === undefined) continue;
    if (change.kind === 'clear') {
      ofOne.clear();
      continue;
    }
    const id = idIn(table, change);
    const before = ofOne.get(id);
    if (before !== undefined) ofOne.set(id, combine(before, change));
    else if (change.kind === 'put') ofOne.set(id, change);
  }
};

const idIn = ({ key }: ProjectedItems, { row }: Change): unknown => row[key[1] as 'id'];

type Stored = Omit<RowFold, 'items'> & { readonly items: Readonly<Record<string, readonly Change[]>> };

/** The form in a snapshot. */
export const storedRow = ({ items, ...fold }: RowFold): Stored => ({
  ...fold,
  items: Object.fromEntries([...items].map(([{ name }, ofOne]) => [name, [...ofOne.values()]])),
});

export const rowStored = (table: ProjectedTable, state: unknown): RowFold => {
  const { items, change, changedAt, departedAt } = state as Stored;
  const found = table.items.map(
    (each) => [each, new Map((items[each.name] ?? []).map((row) => [idIn(each, row), row]))] as const,
  );
  return { change, changedAt, departedAt, items: new Map(found) };
};

/** Identifies the meaning of the fold: for code only the text counts, as with the states of aggregates. */
export const rowFoldOf = oncePer(
  (table: ProjectedTable): Fold => ({ fold: 'row', definition: definitionOf(table) }),
);

const definitionOf = ({ aggregate, columns, items }: ProjectedTable): string => {
  const parts = Object.values(aggregate.fields).flatMap((def) => def.parts ?? []);
  const said = [
    foldDefinitionOf(aggregate),
    meaningOf(aggregate),
    columns,
    items.map((each) => each.columns),
    parts.map(({ column, of }) => [column, String(of)]),
  ];
  return createHash('sha256').update(JSON.stringify(said)).digest('base64url');
};
