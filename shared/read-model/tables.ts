import type { StreamName } from '#kernel/base/brands.ts';
import { kindIn } from '#kernel/base/events/streams.ts';
import { later } from '#kernel/base/later.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import type { Domain, Kind, ListInfo } from '#kernel/registry/registry.ts';
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
import { tableOf } from '#kernel/rows/table.ts';
import { callerReferencesOf, callerReferencesOfItems } from '#kernel/visibility/caller-references.ts';
import { servedKindsOf } from '#kernel/webhook/managed-kinds.ts';
import type { DecodedEvent } from '#shared/events/codec.ts';
import type { ProjectedShares, ProjectedView } from './view-tables.ts';

/** Loaded for a domain with views. */
export const VIEW_TABLES = later('The module of the tables of views', () => import('./view-tables.ts'));

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
      view.shares.flatMap((share) =>
        share.kind === kind.name ? [VIEW_TABLES.module.projectedShares(kind, view, share)] : [],
      ),
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
      VIEW_TABLES.module.projectedView(
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
