import { column } from '#kernel/base/names.ts';
import { itemsOf } from '#kernel/decide/items.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import { staysWhenEnded } from '#kernel/registry/stays-when-ended.ts';
import { columnsOf, partsOf } from '#kernel/rows/table.ts';
import type { ProjectedItems, ProjectedTable } from '#shared/read-model/tables.ts';
import type { KindState } from './deciders.ts';

/** The expected row, as far as a decider knows it; undefined if there must be none. */
export type Expected = Readonly<Record<string, unknown>> | undefined;

/** Returns whether a user is deleted, because a user’s content and registrations are removed with the user. */
type IsDeparted = (userId: number) => boolean;

/** The expected items of an aggregate, by table. */
export const expectedItems = (
  { items }: Pick<ProjectedTable, 'items'>,
  state: unknown,
  isDeparted: IsDeparted,
): Readonly<Record<string, readonly NonNullable<Expected>[]>> =>
  Object.fromEntries(
    items.map((table) => [table.name, itemRows(table, (state as KindState).folded, isDeparted)]),
  );

/** The expected contributions of an aggregate to views, by table: one row, or none. */
export const expectedShares = (
  { shares }: Pick<ProjectedTable, 'shares'>,
  state: unknown,
): Readonly<Record<string, readonly NonNullable<Expected>[]>> =>
  Object.fromEntries(
    shares.map(({ name }) => {
      const share = (state as KindState).shares?.[name];
      return [name, share ? [share] : []];
    }),
  );

const itemRows = (
  table: ProjectedItems,
  folded: AggregateState,
  isDeparted: IsDeparted,
): readonly NonNullable<Expected>[] => {
  if (folded.status !== 'present') return [];
  const { fields } = folded;
  const {
    list,
    key: [of, id],
  } = table;
  const columns = Object.entries(list.fields).map(([name, def]) => [name, column(name, def), def] as const);
  const person = table.whose === undefined ? null : fields[table.whose];
  return itemsOf(fields, list).map((item) => ({
    [of]: fields.id,
    [id]: item.id,
    ...(list.isOrdered && { rank: item.rank }),
    ...(table.person !== null && { [table.person]: person }),
    ...Object.fromEntries(
      columns.map(([name, to, { personal }]) => [
        to,
        personal && isDeparted(Number(person)) ? null : item[name],
      ]),
    ),
  }));
};

/** The state of a decider in the format of the read model: every declared column. */
export const expectedRow = (
  { aggregate: kind, afterDeparture }: Pick<ProjectedTable, 'aggregate' | 'afterDeparture'>,
  state: unknown,
  isDeparted: IsDeparted,
): Expected => {
  const { folded } = state as KindState;
  switch (folded.status) {
    case 'absent':
      return undefined;
    case 'present': {
      const { fields } = folded;
      if (afterDeparture === 'removed' && isDeparted(Number(fields[kind.owner ?? 'id']))) return undefined;
      const isErased = ({ personal }: FieldDef) =>
        personal !== undefined && isDeparted(Number(fields[personal.of ?? kind.owner ?? 'id']));
      const columns = columnsOf(kind).flatMap(([name, def]) =>
        partsOf(name, def).map((part) => [
          part.column,
          isErased(def) ? null : part.of(shownOf(def, fields[name])),
        ]),
      );
      return { ...Object.fromEntries(columns), ...(staysWhenEnded(kind) && { is_deleted: false }) };
    }
    // Personal data is removed; other fields affect no decision.
    case 'ended': {
      if (!staysWhenEnded(kind)) return undefined;
      const personal = columnsOf(kind).filter(([, def]) => def.personal);
      return {
        ...Object.fromEntries(personal.map(([name, def]) => [column(name, def), null])),
        is_deleted: true,
      };
    }
  }
};

/** The row contains only the latest of remembered values. */
const shownOf = ({ remembers }: FieldDef, value: unknown): unknown =>
  remembers === undefined ? value : ((value as readonly unknown[]).at(-1) ?? null);
