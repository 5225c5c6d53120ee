import { column, targetOf } from '#kernel/base/names.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import type { Operation } from '#kernel/base/operation.ts';
import { isReadableWithItems } from '#kernel/conditions/references.ts';
import { operationOf } from '#kernel/conditions/rights.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import type { Domain, ViewInfo } from '#kernel/registry/registry.ts';
import { isOfOneShare } from '#kernel/registry/view-of.ts';
import { fieldsOfView, partIn, sortsOfView } from '#kernel/rest/views.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import type { Member } from '../rows/source.ts';

/** How the rows of one view are read: compiled once from the declaration. */
export type ViewSource = {
  readonly view: ViewInfo;
  readonly right: Operation;
  readonly table: string;
  /** The key first. */
  readonly members: readonly Member[];
  readonly keys: readonly OrderColumn[];
  /** By the name of the order. */
  readonly sorts: ReadonlyMap<string, OrderColumn & { readonly isOptional: boolean }>;
};

export type OrderColumn = { readonly name: string; readonly type: string };

const viewSourceOf = (domain: Domain, view: ViewInfo): ViewSource => {
  const fields = fieldsOfView(view);
  return {
    view,
    right: operationOf(view.asked, 'read') as Operation,
    table: `${LIVE_SCHEMA}.${view.table}`,
    members: Object.entries(fields).map(([name, def]) => ({
      name,
      def,
      column: column(name, def),
      target: def.kind === 'ref' ? domain.kinds[targetOf(def)] : undefined,
      guard: undefined,
      showsEnded: isReadableWithItems(domain, view.asked, { def }),
    })),
    keys: Object.entries(view.key).map(([name, def]) => ({ name: column(name, def), type: def.column })),
    sorts: new Map(
      sortsOfView(view).flatMap((name) => {
        const def = fields[name];
        if (def === undefined) return [];
        const isNumber = view.values[name] !== undefined && !isOfOneShare(view.values[name]);
        return [
          [
            name,
            {
              name: column(name, def),
              type: isNumber ? 'numeric' : def.column,
              isOptional: def.optional === true,
            },
          ] as const,
        ];
      }),
    ),
  };
};

export const viewSourcesOf = oncePer((domain: Domain): readonly ViewSource[] =>
  domain.views.map((view) => viewSourceOf(domain, view)),
);

export const demandViewSource = (domain: Domain, view: ViewInfo): ViewSource => {
  const source = viewSourcesOf(domain).find((each) => each.view === view);
  if (source === undefined) throw new RangeError(`The domain has no ${view.name}`);
  return source;
};

/** The columns of an order, which together are unique. */
export const orderOfView = ({ sorts, keys }: ViewSource, sort: string): readonly OrderColumn[] => {
  const by = sorts.get(sort);
  if (by === undefined) throw new RangeError(`There is no order ${sort}`);
  return [by, ...keys.filter(({ name }) => name !== by.name)];
};

/** A part of a key as GraphQL receives it; null if no key can have this value. */
export const keyValue = (def: FieldDef, given: unknown): number | string | boolean | null =>
  partIn(def, String(given)) ?? null;
