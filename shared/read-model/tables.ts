import type { StreamName } from '#kernel/base/brands.ts';
import { kindIn } from '#kernel/base/events/streams.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import type { Domain, Kind, ListInfo, ShareInfo, ViewInfo } from '#kernel/registry/registry.ts';
import type { Change, ItemChange, Table } from '#kernel/rows/change.ts';
import { compileRows, type Projected } from '#kernel/rows/compile.ts';
import { definitionOf, type TableDefinition } from '#kernel/rows/definition.ts';
import {
  compileItems,
  type DerivedColumn,
  derivedColumnsOf,
  type ItemTable,
  itemDefinitionOf,
  itemTableOf,
} from '#kernel/rows/items.ts';
import {
  compileShares,
  type ShareChange,
  type ShareTable,
  shareDefinitionOf,
  shareTableOf,
} from '#kernel/rows/shares.ts';
import { tableOf } from '#kernel/rows/table.ts';
import { type AskedTable, tablesAskedFor } from '#kernel/rows/view-readers.ts';
import { type ViewTable, viewTableOf } from '#kernel/rows/view-table.ts';
import { viewDefinitionOf, viewIndexesOf } from '#kernel/rows/views.ts';
import { callerReferencesOf, callerReferencesOfItems } from '#kernel/visibility/caller-references.ts';
import { servedKindsOf } from '#kernel/webhook/managed-kinds.ts';
import type { DecodedEvent } from '#shared/events/codec.ts';

/** A table of the read model, and the effects of its kind’s events on its rows. */
export type ProjectedTable = Table & {
  readonly aggregate: Kind;
  readonly definition: TableDefinition;
  /** Has full-text search, which makes its rows slower to write than all others. */
  readonly isSearched: boolean;
  /** The fate of rows whose person is deleted: they stay without personal data, or are removed. */
  readonly afterDeparture: 'emptied' | 'removed';
  /** Every event of a stream is one of its kind; decoding has checked that. */
  project(event: DecodedEvent): Change;
  /** The tables of its lists. */
  readonly items: readonly ProjectedItems[];
  /** The tables of its shares in views. */
  readonly shares: readonly ProjectedShares[];
};

/** The table of a list, and the effects of its aggregate’s events on its rows; other events have none. */
export type ProjectedItems = ItemTable & {
  readonly definition: TableDefinition;
  /** Like the rows of aggregates of the domain. */
  readonly afterDeparture: 'emptied';
  /** The columns of the aggregate that are computed from its items. */
  readonly derived: readonly DerivedColumn[];
  changes(event: DecodedEvent): ItemChange | undefined;
};

/** The table of the shares that aggregates of a kind have in a view, and the effects of their events. */
export type ProjectedShares = ShareTable & {
  readonly definition: TableDefinition;
  readonly afterDeparture: 'emptied';
  changes(event: DecodedEvent): ShareChange | undefined;
};

/** The table of a view, with those of its shares. */
type ProjectedView = ViewTable & {
  readonly definition: TableDefinition;
  readonly shares: readonly ProjectedShares[];
  /** The tables that decide the visibility of its rows, beside its key. */
  readonly asked: readonly AskedTable[];
};

/** A table whose rows are made by the events of single streams. */
export type OfStreams = ProjectedTable | ProjectedItems | ProjectedShares;

/**
 * The tables of a domain’s read model whose rows are the states of streams: those of its aggregates, and of
 * the kernel kinds.
 */
export type Tables = {
  readonly all: readonly ProjectedTable[];
  /** Includes the tables of items and shares. */
  readonly ofStreams: readonly OfStreams[];
  readonly views: readonly ProjectedView[];
  named(name: string): OfStreams | undefined;
  ofKind(kind: string): ProjectedTable | undefined;
  /** Whether the stream belongs in the read model; all others are ignored. */
  isProjected(event: { readonly stream: StreamName }): boolean;
  /** The row of a stream. A stream with an invalid name has none. */
  rowOf(stream: StreamName): { readonly table: ProjectedTable; readonly id: number } | undefined;
};

export const tablesOf = oncePer((domain: Domain): Tables => {
  return tablesOfAll(
    servedKindsOf(domain).map((kind) => projectedTable(domain, kind)),
    domain,
  );
});

const projectedTable = (domain: Domain, kind: Kind): ProjectedTable => {
  const rows = compileRows(kind);
  return {
    ...tableOf(kind),
    aggregate: kind,
    definition: definitionOf(kind, callerReferencesOf(domain, kind)),
    isSearched: Object.values(kind.fields).some(({ search }) => search),
    // A webhook needs its owner.
    afterDeparture: kind.isManaged ? 'removed' : 'emptied',
    project(event) {
      const compiled = rows.get(event.type);
      if (!compiled) throw new Error(`${event.type} is not an event of ${kind.name}`);
      return compiled(event as Projected);
    },
    items: Object.values(kind.lists).map((list) => projectedItems(domain, kind, list)),
    shares: domain.views.flatMap((view) =>
      view.shares.flatMap((share) => (share.kind === kind.name ? [projectedShares(kind, view, share)] : [])),
    ),
  };
};

const projectedItems = (domain: Domain, kind: Kind, list: ListInfo): ProjectedItems => {
  const rows = compileItems(kind, list);
  return {
    ...itemTableOf(kind, list),
    definition: itemDefinitionOf(kind, list, callerReferencesOfItems(domain, kind, list)),
    afterDeparture: 'emptied',
    derived: derivedColumnsOf(kind, list),
    changes: (event) => rows.get(event.type)?.(event as Projected),
  };
};

const projectedShares = (kind: Kind, view: ViewInfo, share: ShareInfo): ProjectedShares => {
  const table = shareTableOf(view, share);
  const rows = compileShares(kind, view, share);
  return {
    ...table,
    definition: shareDefinitionOf(table),
    afterDeparture: 'emptied',
    changes: (event) => rows.get(event.type)?.(event as Projected & { position: number }),
  };
};

const projectedView = (domain: Domain, view: ViewInfo, shares: readonly ProjectedShares[]): ProjectedView => {
  const table = viewTableOf(view);
  return {
    ...table,
    definition: { table: viewDefinitionOf(table), indexes: viewIndexesOf(table, view), unsampled: undefined },
    shares: shares.filter((share) => share.view === view),
    asked: tablesAskedFor(domain, view),
  };
};

export const demandTable = (tables: Tables, kind: string): ProjectedTable => {
  const table = tables.ofKind(kind);
  if (!table) throw new Error(`The domain has no ${kind}`);
  return table;
};

/** The field of an event for a column. */
export const fieldOf = (column: string): string =>
  column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const ID = /^[1-9]\d{0,15}$/;

const tablesOfAll = (all: readonly ProjectedTable[], domain: Domain): Tables => {
  const ofStreams = all.flatMap((table) => [table, ...table.items, ...table.shares]);
  const byName = new Map(ofStreams.map((table) => [table.name, table]));
  const byKind = new Map(all.map((table) => [table.kind, table]));
  const tableOfStream = (stream: string) => byKind.get(kindIn(stream));
  return {
    all,
    ofStreams,
    views: domain.views.map((view) =>
      projectedView(
        domain,
        view,
        all.flatMap(({ shares }) => shares),
      ),
    ),
    named: (name) => byName.get(name),
    ofKind: (kind) => byKind.get(kind),
    isProjected: ({ stream }) => tableOfStream(stream) !== undefined,
    rowOf(stream) {
      const table = tableOfStream(stream);
      const key = stream.slice(stream.indexOf('-') + 1);
      return table && ID.test(key) ? { table, id: Number(key) } : undefined;
    },
  };
};
