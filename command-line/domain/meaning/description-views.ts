import { targetOf } from '#kernel/base/names.ts';
import type { Domain, ShareEffect, ShareInfo, ShareSource, ViewInfo } from '#kernel/registry/registry.ts';
import { isOfOneShare } from '#kernel/registry/view-of.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { viewQueriesOf, viewSubscriptionOf } from '../../../query/graphql/schema/sdl-views.ts';
import { viewSourcesOf } from '../../../query/views/source.ts';
import { operationsTo, tableLines } from './description-parts.ts';
import { rightSentencesOf } from './rights.ts';

export type ViewDescription = ReturnType<typeof describeView>;

/** Everything that follows from the declaration of a view. */
export const describeView = (domain: Domain, view: ViewInfo) => ({
  name: view.name,
  says: view.says,
  key: Object.entries(view.key).map(([name, def]) => ({
    name,
    kind: def.kind === 'ref' ? targetOf(def) : def.kind,
  })),
  values: Object.entries(view.values).map(([name, { kind, def }]) => ({
    name,
    kind,
    ...(isOfOneShare(view.values[name]) && { of: def.kind }),
  })),
  shares: view.shares.flatMap((share) =>
    Object.entries(share.on).map(([event, effect]) => ({
      event: `${share.kind}.${event}`,
      by: Object.keys(share.by)
        .map((part) => keySourceOf(share, part))
        .join(', '),
      does: doingOf(effect),
    })),
  ),
  operations: operationsTo(domain, view.asked),
  queries: viewSourcesOf(domain)
    .filter((source) => source.view === view)
    .flatMap((source) => [...viewQueriesOf(source), viewSubscriptionOf(source)].map(([, text]) => text)),
  rights: rightSentencesOf(domain, view.asked),
  tables: tablesOf(domain)
    .views.filter(({ name }) => name === view.table)
    .flatMap(({ shares, ...table }) => [table, ...shares].map(tableLines)),
});

const doingOf = ({ kind, sets, adds }: ShareEffect): string => {
  if (kind === 'ends') return 'ends its share';
  const parts = Object.entries(sets).map(([value, source]) => `${value} = ${sourceOf(source)}`);
  const more = Object.entries(adds).map(([value, source]) => `${value} + ${sourceOf(source)}`);
  return `${kind} ${[...parts, ...more].join(', ') || 'nothing yet'}`;
};

export const sourceOf = ({ from, isNegative }: ShareSource): string =>
  typeof from === 'object' ? `${isNegative ? '-' : ''}${from.field}` : String(from);

/** The field of a part of the key: `team`, or `month of openedAt`. */
export const keySourceOf = ({ by, periods }: ShareInfo, part: string): string => {
  const period = periods?.[part];
  return period === undefined ? (by[part] ?? '') : `${period} of ${by[part]}`;
};
