import type { Domain, Kind, ShareInfo, ViewInfo } from '#kernel/registry/registry.ts';
import type { Projected } from '#kernel/rows/compile.ts';
import type { TableDefinition } from '#kernel/rows/definition.ts';
import {
  compileShares,
  type ShareChange,
  type ShareTable,
  shareDefinitionOf,
  shareTableOf,
} from '#kernel/rows/shares.ts';
import { type AskedTable, tablesAskedFor } from '#kernel/rows/view-readers.ts';
import { type ViewTable, viewTableOf } from '#kernel/rows/view-table.ts';
import { viewDefinitionOf, viewIndexesOf } from '#kernel/rows/views.ts';
import type { DecodedEvent } from '#shared/events/codec.ts';

/** The table of the shares that aggregates of a kind have in a view, and the effects of their events. */
export type ProjectedShares = ShareTable & {
  readonly definition: TableDefinition;
  readonly afterDeparture: 'emptied';
  changes(event: DecodedEvent): ShareChange | undefined;
};

/** The table of a view, with those of its shares. */
export type ProjectedView = ViewTable & {
  readonly definition: TableDefinition;
  readonly shares: readonly ProjectedShares[];
  /** The tables that decide the visibility of its rows, beside its key. */
  readonly asked: readonly AskedTable[];
};

export const projectedShares = (kind: Kind, view: ViewInfo, share: ShareInfo): ProjectedShares => {
  const table = shareTableOf(view, share);
  const rows = compileShares(kind, view, share);
  return {
    ...table,
    definition: shareDefinitionOf(table),
    afterDeparture: 'emptied',
    changes: (event) => rows.get(event.type)?.(event as Projected & { position: number }),
  };
};

export const projectedView = (
  domain: Domain,
  view: ViewInfo,
  shares: readonly ProjectedShares[],
): ProjectedView => {
  const table = viewTableOf(view);
  return {
    ...table,
    definition: { table: viewDefinitionOf(table), indexes: viewIndexesOf(table, view), unsampled: undefined },
    shares: shares.filter((share) => share.view === view),
    asked: tablesAskedFor(domain, view),
  };
};
