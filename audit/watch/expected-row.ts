import { itemsOf } from '#kernel/decide/items.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import { column } from '#kernel/registry/names.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import { columnsOf, staysWhenEnded } from '#kernel/rows/table.ts';
import { fieldOf, type ProjectedItems, type ProjectedTable } from '#shared/read-model/tables.ts';
import type { WebhookState } from '../../command/webhooks/state.ts';
import type { KindState } from '../verify/deciders.ts';

/** What a row must say, as far as a decider knows it; nothing where there must be no row. */
export type Expected = Readonly<Record<string, unknown>> | undefined;

/** Whom a row belongs to is asked, because what a deleted user wrote and registered goes with them. */
type IsDeparted = (userId: number) => boolean;

/** What the items of an aggregate must say, by the names of their tables. */
export const expectedItems = (
  { items }: Pick<ProjectedTable, 'items'>,
  state: unknown,
  isDeparted: IsDeparted,
): Readonly<Record<string, readonly NonNullable<Expected>[]>> =>
  Object.fromEntries(items.map((table) => [table.name, itemRows(table, (state as KindState).folded, isDeparted)]));

const itemRows = (table: ProjectedItems, folded: AggregateState, isDeparted: IsDeparted): readonly NonNullable<Expected>[] => {
  if (folded.status !== 'present') return [];
  const { fields } = folded;
  const {
    list,
    key: [of, id],
  } = table;
  const columns = Object.entries(list.fields).map(([name, def]) => [name, column(name, def), def] as const);
  const owner = table.owner === undefined ? null : fields[table.owner];
  return itemsOf(fields, list).map((item) => ({
    [of]: fields.id,
    [id]: item.id,
    ...(list.isOrdered && { rank: item.rank }),
    ...(table.person !== null && { [table.person]: owner }),
    ...Object.fromEntries(columns.map(([name, to, { personal }]) => [to, personal && isDeparted(Number(owner)) ? null : item[name]])),
  }));
};

/** The state of a decider in the words of the read model. The events of a stream are those of its decider: the codec checks that. */
export const expectedRow = (
  { name, aggregate, columns }: Pick<ProjectedTable, 'name' | 'aggregate' | 'columns'>,
  state: unknown,
  isDeparted: IsDeparted,
): Expected => {
  if (name === 'webhooks') return webhookRow(Object.keys(columns), state as WebhookState, isDeparted);
  if (aggregate === undefined) throw new Error(`Nothing is known of ${name}`);
  return kindRow(aggregate, state as KindState, isDeparted);
};

/** Every column that its declaration gives it. */
const kindRow = (kind: Kind, { folded }: KindState, isDeparted: IsDeparted): Expected => {
  switch (folded.status) {
    case 'absent':
      return undefined;
    case 'present': {
      const { fields } = folded;
      const isErased = ({ personal }: FieldDef) => personal !== undefined && isDeparted(Number(fields[personal.of ?? kind.owner ?? 'id']));
      const columns = columnsOf(kind).map(([name, def]) => [column(name, def), isErased(def) ? null : fields[name]]);
      return { ...Object.fromEntries(columns), ...(staysWhenEnded(kind) && { is_deleted: false }) };
    }
    // What is personal is gone from it; what else it said, no decision asks.
    case 'ended': {
      if (!staysWhenEnded(kind)) return undefined;
      const personal = columnsOf(kind).filter(([, def]) => def.personal);
      return { ...Object.fromEntries(personal.map(([name, def]) => [column(name, def), null])), is_deleted: true };
    }
  }
};

const FILTER = 'filter_';

const webhookRow = (columns: readonly string[], state: WebhookState, isDeparted: IsDeparted): Expected => {
  if (state.status === 'absent' || state.status === 'deleted' || isDeparted(state.ownerId)) return undefined;
  const { filter, limits, headers, missed } = state;
  const filters = columns.filter((column) => column.startsWith(FILTER));
  return {
    owner_id: state.ownerId,
    url: state.url,
    description: state.description,
    event_types: state.eventTypes,
    ...Object.fromEntries(filters.map((column) => [column, filter[fieldOf(column.slice(FILTER.length))] ?? null])),
    payload: state.payload,
    is_ordered: state.ordered,
    rate_per_second: limits.ratePerSecond,
    concurrency: limits.concurrency,
    header_names: Object.keys(headers ?? {}),
    scopes: state.scopes,
    is_enabled: state.status === 'enabled',
    disabled_reason: state.disabledReason,
    missed_log: missed?.since.log ?? null,
    missed_since: missed?.since.position ?? null,
    old_secrets_end_at: state.oldSecretsEnd.at(-1) ?? null,
  };
};
