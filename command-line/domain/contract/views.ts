import type { Domain, ViewInfo } from '#kernel/registry/registry.ts';
import { keySourceOf, sourceOf } from '../meaning/description-views.ts';
import { byName, type Finding, warns } from './finding.ts';

/**
 * By view: for each value, what it counts or sums; for each aggregate, which of its items are in which row,
 * and from which event on.
 */
export type ViewContracts = Readonly<Record<string, Readonly<Record<string, string>>>>;

export const viewContracts = ({ views }: Domain): ViewContracts =>
  Object.fromEntries(views.map((view) => [view.name, { ...valuesOf(view), ...aggregatesOf(view) }]));

const valuesOf = ({ values, shares }: ViewInfo): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(values).map(([name, { kind }]) => {
      const parts = shares.flatMap((share) =>
        Object.entries(share.on).flatMap(([event, { sets, adds }]) => [
          ...(sets[name] === undefined ? [] : [`${share.kind}.${event} = ${sourceOf(sets[name])}`]),
          ...(adds[name] === undefined ? [] : [`${share.kind}.${event} + ${sourceOf(adds[name])}`]),
        ]),
      );
      return [name, `${kind} of ${parts.toSorted().join(', ')}`];
    }),
  );

const aggregatesOf = ({ shares }: ViewInfo): Readonly<Record<string, string>> =>
  Object.fromEntries(
    shares.map((share) => {
      const { kind, by, on } = share;
      const ones = (wanted: string) =>
        Object.keys(on)
          .filter((event) => on[event]?.kind === wanted)
          .toSorted();
      const keys = Object.keys(by).map((part) => {
        const from = keySourceOf(share, part);
        return part === from ? part : `${part} = ${from}`;
      });
      const until = ones('ends').length === 0 ? '' : `, until ${ones('ends').join(' or ')}`;
      return [`of ${kind}`, `by ${keys.join(', ')}, from ${ones('gives').join(' or ')} on${until}`];
    }),
  );

/** Skips views that were not recorded yet. The operations already report new and removed views and values. */
export const compareViews = (before: ViewContracts = {}, after: ViewContracts = {}): readonly Finding[] =>
  byName(before, after).both.flatMap(([view, was, is]) => valueChanges(`view ${view}`, was, is));

type Values = Readonly<Record<string, string>>;

/** Past events now give other values: their readers must know. */
export const valueChanges = (what: string, before: Values = {}, after: Values = {}): readonly Finding[] =>
  byName(before, after).both.flatMap(([name, was, is]) =>
    was === is ? [] : [warns(`${what} ${name}`, `It is ${is}, and was ${was}. ${OTHERS}`)],
  );

const OTHERS =
  'Its values change, also those of earlier events: rebuild the read model, and inform its users.';
